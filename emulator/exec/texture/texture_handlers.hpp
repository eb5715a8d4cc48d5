// SPDX-License-Identifier: Apache-2.0
// The handlers of texture and surface instructions. Op::extra is the instruction's place in Program::textures.
#pragma once

#include "emulator/exec/state/tool_finding.hpp"
#include "emulator/exec/state/warp.hpp"
#include "emulator/isa/table.hpp"

#include <string>

namespace warplens::exec {

struct BoundTexture;
struct TextureSite;

const Op* sample_texture(const Op* op, Warp* warp);
const Op* load_surface(const Op* op, Warp* warp);
const Op* store_surface(const Op* op, Warp* warp);
const Op* reduce_surface(const Op* op, Warp* warp);
/// txq, suq. Op::imm is the isa::Word of the queried attribute; src[0] the reference, src[1] the level.
const Op* read_attribute(const Op* op, Warp* warp);
/// istypep: true of variables, not of handles made by the host. Op::imm is the isa::Type; src[0] the reference, dst[0]
/// a predicate.
const Op* is_texture_type(const Op* op, Warp* warp);

const TextureSite& texture_site(const Op* op, const Warp* warp);

/// A lane may not access a texture or surface. True: memcheck drops the access; otherwise the kernel stops.
bool refuse_texture(const Op* op, Warp* warp, int lane, ToolFinding::Kind finding, std::string why);

/// The texture or surface of a lane's reference; null: refused.
const BoundTexture* bound_texture(const Op* op, Warp* warp, int lane, std::uint64_t reference, isa::Type wanted);

/// The lanes of a mask whose value in a row equals that of one of them: usually all.
Mask same_as(const std::uint64_t* values, int lane, Mask mask);

/// Reports the addresses of the texels that the lanes in `mask` access to the watcher. `bytes`: of a texel.
void observe_texels(const Op* op, Warp* warp, Mask mask, const std::uint64_t* addresses, std::uint32_t bytes);

} // namespace warplens::exec
