/// <reference types="handlebars" />

/** Declares only the parser. The rest of Handlebars compiles and runs templates, which mediabatch must never do. */
declare module 'handlebars/dist/cjs/handlebars/compiler/base.js' {
  export function parse(text: string): hbs.AST.Program;
}
