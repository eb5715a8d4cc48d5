// SPDX-License-Identifier: Apache-2.0
// The syntax of PTX, versions 1.0 to 9.x. One rule covers all instructions: a word and operands. The instruction table
// defines which words exist; the builder knows which names exist.
//
// No rule reads a whole module. The reader parses it piece by piece, so a tree of a whole module never exists:
//
//   module       : item* ;                                     item, then the parts that its head requires:
//   function     : item '{' body '}' | item ';'? ;                 without ';' if another item follows, as in CUDA 2
//   body         : ( statement | '{' body '}' )* ;
//   variables    : item declared (',' declared)* ';' ;         also after a statement that is a declaration
//   declared     : declarator ('=' initializer)? ;
//   initializer  : operand | '{' (initializer (',' initializer)*)? '}' | operand '=' operand ;
//   section      : section '{' sectionLine* '}' ;
//
// Every decision is LL(1): the generated parser contains only switch statements. The build checks this.
grammar Ptx;

options { superClass = ParserRuntime; contextSuperClass = PieceContext; }
@parser::postinclude { #include "emulator/ir/parse_runtime.hpp" }

// ---- module scope --------------------------------------------------------------------------------------------------

item
  : VERSION number=(FLOAT | INTEGER)
  | TARGET words+=WORD (',' words+=WORD)*
  | ADDRESS_SIZE number=INTEGER
  | alias=ALIAS words+=WORD ',' words+=WORD ';'
  | linkages+=LINKAGE* (kernel=entry | function=func | variable=declaration)
  | other=common
  ;

entry
  : ENTRY name=WORD params=parameters? directives+=functionDirective*
  ;

func
  : FUNC attributes+=attribute* results=parameters? name=WORD params=parameters? directives+=functionDirective*
  ;

parameters
  : '(' (list+=parameter (',' list+=parameter)*)? ')'
  ;

parameter
  : head=declaration named=declarator
  ;

// .maxntid 16, 16   .noreturn   .pragma "…";
functionDirective
  : name=DOTTED (values+=INTEGER (',' values+=INTEGER)*)?
  | PRAGMA strings+=STRING (',' strings+=STRING)* ';'
  ;

// ---- allowed at any scope --------------------------------------------------------------------------------------------

common
  : FILE number=INTEGER string=STRING (',' stamp=INTEGER (',' INTEGER)?)?
  | loc=LOC values+=INTEGER values+=INTEGER values+=INTEGER (',' attributes+=locAttribute)*
  | pragma=PRAGMA strings+=STRING (',' strings+=STRING)* ';'
  | DWARF
  ;

locAttribute
  : FUNCTION_NAME WORD ('+' INTEGER)?
  | INLINED_AT values+=INTEGER values+=INTEGER values+=INTEGER
  | WORD INTEGER?
  ;

// The part of a declaration that all its names share: .shared .align 16 .b8
declaration
  : space=SPACE ('[' bank=INTEGER ']')? attributes+=attribute*
  ;

attribute
  : ALIGN alignment=INTEGER
  | word=(DOTTED | SPACE)
  | ATTRIBUTE '(' items+=attributeItem (',' items+=attributeItem)* ')'
  ;

attributeItem
  : name=DOTTED ('(' values+=INTEGER (',' values+=INTEGER)* ')')?
  ;

declarator
  : name=WORD ('<' count=INTEGER '>')? extents+=extent*
  ;

extent
  : '[' size=operand? ']'
  ;

// ---- sections of debug information -----------------------------------------------------------------------------------

section
  : SECTION (DOTTED | WORD)
  ;

sectionLine
  : WORD ':'
  | DOTTED sectionValue (',' sectionValue)*
  ;

sectionValue
  : '-'? sectionWord (('+' | '-') sectionWord)*
  ;

sectionWord
  : INTEGER | HEX_FLOAT | WORD | DOTTED
  ;

// ---- bodies ------------------------------------------------------------------------------------------------------------

statement
  : word=WORD (colon=':' | rest=instructionRest)
  | '@' negated='!'? guard=WORD word=WORD rest=instructionRest
  | linkages+=LINKAGE* variable=declaration
  | table=(BRANCHTARGETS | CALLTARGETS) words+=WORD (',' words+=WORD)* ';'
  | prototype=CALLPROTOTYPE results=parameters? name=WORD params=parameters? directives+=functionDirective* ';'
  | other=common
  ;

instructionRest
  : suffixes+=(DOTTED | SPACE | LINKAGE | ALIGN)* (operands+=operand (',' operands+=operand)*)? ';'
  ;

// One flat rule for operands and constant expressions: the builder handles precedence and the pair p|q.
operand
  : terms+=term (operators+=('+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '<' | '>' | '<=' | '>=' | '==' | '!='
                     | '&' | '^' | '|' | '&&' | '||' | '?' | ':') terms+=term)*
  ;

// symbol[4]   generic(symbol)   0xFF00(symbol)   (.s64) 5   (a, b)   {a, b}   [a+4, {x, y}]
term
  : prefixes+=('-' | '+' | '!' | '~')*
    ( word=WORD (suffixes+=DOTTED)* (open='[' operands+=operand ']' | open='(' operands+=operand ')')?
    | number=INTEGER (open='(' operands+=operand ')')?
    | number=(FLOAT | HEX_FLOAT)
    | open='(' (cast=DOTTED ')' inner=term | (operands+=operand (',' operands+=operand)*)? ')')
    | open='{' (operands+=operand (',' operands+=operand)*)? '}'
    | open='[' operands+=operand (',' operands+=operand)* ']'
    )
  ;

// ---- words -------------------------------------------------------------------------------------------------------------

VERSION       : '.version' ;
TARGET        : '.target' ;
ADDRESS_SIZE  : '.address_size' ;
ENTRY         : '.entry' ;
FUNC          : '.func' ;
ALIAS         : '.alias' ;
FILE          : '.file' ;
LOC           : '.loc' ;
PRAGMA        : '.pragma' ;
SECTION       : '.section' ;
ALIGN         : '.align' ;
ATTRIBUTE     : '.attribute' ;
BRANCHTARGETS : '.branchtargets' ;
CALLTARGETS   : '.calltargets' ;
CALLPROTOTYPE : '.callprototype' ;
LINKAGE       : '.extern' | '.visible' | '.weak' | '.common' ;
SPACE         : '.reg' | '.sreg' | '.const' | '.global' | '.local' | '.param' | '.shared' | '.tex' ;
FUNCTION_NAME : 'function_name' ;
INLINED_AT    : 'inlined_at' ;

// @@DWARF .byte 0x12, …   to the end of the line (PTX 1.x)
DWARF : '@@' [dD] [wW] [aA] [rR] [fF] ~[\r\n]* ;

PERCENT : '%' ;

// A whole dotted word is one token: ld.global.L2::128B.v2.f32, %tid.x, ld.const[2].f32
WORD   : [a-zA-Z_$%] NAME* (('.' | '::' | '[' [0-9]+ '].') NAME+)* ;
HEX_FLOAT : '0' [fF] HEX HEX HEX HEX HEX HEX HEX HEX
          | '0' [dD] HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX HEX ;
INTEGER : ('0' [xX] HEX+ | '0' [bB] [01]+ | [0-9]+) 'U'? ;
FLOAT   : ([0-9]+ '.' [0-9]* | '.' [0-9]+) ([eE] [+-]? [0-9]+)? | [0-9]+ [eE] [+-]? [0-9]+ ;
DOTTED  : '.' NAME+ ('::' NAME+)* ;
STRING  : '"' ~["\r\n]* '"' ;

fragment NAME : [a-zA-Z0-9_$] ;
fragment HEX  : [0-9a-fA-F] ;

SPACES  : [ \t\r\n\f\u000B]+ -> skip ;
COMMENT : ('//' ~[\n]* | '/*' .*? '*/') -> skip ;

// Not valid in PTX: these tokens let the reader report specific errors.
BAD_NUMBER   : [0-9] NAME* ;
OPEN_COMMENT : '/*' ;
OPEN_STRING  : '"' ~["\r\n]* ;
STRAY        : . ;
