/**
 * Turns the examples of the documentation into modules that run.
 *
 * An example is a block marked `ts` in a Markdown file or a JSDoc comment. It is a whole module. It needs no imports
 * from the package that it documents. A comment after an expression, on the same line, states its value:
 * `keyIdOf("secret") // null`. After `console.log(…)`, it states the logged value.
 */
import { type Comment, parseSync, Visitor } from "oxc-parser";

export interface Example {
  readonly file: string;
  /** The number of the first line of code, from 1. */
  readonly line: number;
  readonly code: string;
}

/** The name of a global function. The modules call it with each value of an example and the documented value. */
export const expectation = "expectDocumented";

/** The examples of a file in order. In source files, only JSDoc comments are read. */
export const examplesIn = (file: string, source: string): ReadonlyArray<Example> => {
  const inComments = file.endsWith(".ts");
  const examples: Array<Example> = [];
  let open: { readonly line: number; readonly code: Array<string> } | null = null;
  for (const [index, written] of source.split("\n").entries()) {
    const comment = /^\s*\* ?(.*)$/.exec(written)?.[1];
    const text = inComments ? (comment ?? "") : written;
    if (open === null) {
      if (text === "```ts") open = { line: index + 2, code: [] };
    } else if (text === "```") {
      examples.push({ file, line: open.line, code: open.code.join("\n") });
      open = null;
    } else {
      open.code.push(text);
    }
  }
  if (open !== null)
    throw new Error(`Cannot read ${file}:${open.line}: the example has no end, expected "\`\`\`"`);
  return examples;
};

/** An example as a module. Its code has the same line numbers as in the documentation. */
export interface ExampleModule {
  readonly source: string;
  readonly values: number;
  /** Whether the example declares tests. If so, it must be loaded while vitest collects the tests of a file. */
  readonly isTest: boolean;
}

/**
 * Converts an example into a module.
 *
 * @param door the package whose exports are imported implicitly
 */
export const moduleOf = (
  example: Example,
  door: { readonly name: string; readonly exports: ReadonlyArray<string> } | null,
): ExampleModule => {
  const { code, line } = example;
  const { program, comments, module } = parse(example, code);
  const imported = new Set(
    module.staticImports.flatMap(({ entries }) => entries.map((entry) => entry.localName.value)),
  );
  const words = new Set(code.match(/[A-Za-z_$][\w$]*/g));
  const implied = (door?.exports ?? []).filter((name) => words.has(name) && !imported.has(name));
  const header = implied.length === 0 ? "" : `import { ${implied.join(", ")} } from "${door?.name}";`;

  const edits: Array<Edit> = [];
  const visitor = new Visitor({
    ExpressionStatement: ({ expression, start, end }) => {
      const comment = comments.find((candidate) => isBehind(code, end, candidate));
      if (comment === undefined) return;
      const { from, to } = loggedIn(expression) ?? { from: expression.start, to: expression.end };
      const text = `${expectation}(${code.slice(from, to)}, (${comment.value.trim()}));`;
      edits.push({ start, end: comment.end, text });
    },
  });
  visitor.visit(program);

  const source = `${header}${"\n".repeat(line - 1)}${applied(code, edits)}\nexport {};\n`;
  parse(example, source);
  const isTest = module.staticImports.some(({ moduleRequest }) => moduleRequest.value === "vitest");
  return { source, values: edits.length, isTest };
};

const parse = ({ file, line }: Example, code: string) => {
  const result = parseSync(file.replace(/\.md$/, ".ts"), code);
  const [error] = result.errors;
  if (error === undefined) return result;
  throw new Error(`Cannot read the example at ${file}:${line}: ${error.message}\n${error.codeframe ?? ""}`);
};

/** Whether a comment follows a statement on the same line. */
const isBehind = (code: string, end: number, { type, start }: Comment): boolean =>
  type === "Line" && start >= end && /^[; ]*$/.test(code.slice(end, start));

/** Returns the position of the argument if the expression is `console.log(argument)`, else null. */
const loggedIn = (expression: object): { readonly from: number; readonly to: number } | null => {
  const call = expression as {
    readonly type: string;
    readonly callee?: {
      readonly object?: { readonly name?: string };
      readonly property?: { readonly name?: string };
    };
    readonly arguments?: ReadonlyArray<{ readonly start: number; readonly end: number }>;
  };
  const [argument, ...others] = call.arguments ?? [];
  const isLog = call.callee?.object?.name === "console" && call.callee.property?.name === "log";
  return isLog && argument !== undefined && others.length === 0
    ? { from: argument.start, to: argument.end }
    : null;
};

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const applied = (code: string, edits: ReadonlyArray<Edit>): string =>
  edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, { start, end, text: put }) => text.slice(0, start) + put + text.slice(end), code);
