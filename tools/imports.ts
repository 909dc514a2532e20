import { parseSync } from "oxc-parser";

export interface Import {
  readonly specifier: string;
  readonly offset: number;
}

/** Every import and re-export of a file, with those of types. `file` names the language by its ending. */
export const importsOf = (file: string, source: string): ReadonlyArray<Import> => {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  const requests = [
    ...staticImports.map((statement) => statement.moduleRequest),
    ...staticExports.flatMap((statement) =>
      statement.entries.slice(0, 1).map((entry) => entry.moduleRequest),
    ),
    ...dynamicImports.map((expression) => expression.moduleRequest),
  ];
  return requests
    .filter((request) => request !== null)
    .map(({ start, end }) => ({ specifier: source.slice(start + 1, end - 1), offset: start }));
};
