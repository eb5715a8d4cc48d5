// SPDX-License-Identifier: Apache-2.0
// What libwarplens_compiler.so and its worker send to each other: strings, each after its length.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

namespace warplens::exec::compile {

/// False if the other end was closed.
inline bool send_bytes(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

inline bool receive_bytes(int socket, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t received = recv(socket, bytes, size, 0);
    if (received > 0) {
      bytes += received;
      size -= static_cast<std::size_t>(received);
    } else if (received == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

inline bool send_string(int socket, std::string_view text) {
  const std::uint64_t size = text.size();
  return send_bytes(socket, {reinterpret_cast<const char*>(&size), sizeof size}) && send_bytes(socket, text);
}

inline bool receive_string(int socket, std::string& text) {
  std::uint64_t size = 0;
  if (!receive_bytes(socket, reinterpret_cast<char*>(&size), sizeof size) || size > text.max_size()) return false;
  text.resize(size);
  return receive_bytes(socket, text.data(), text.size());
}

} // namespace warplens::exec::compile
