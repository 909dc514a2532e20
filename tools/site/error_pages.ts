/** A page for each error code, from the values of the contract and the rows of `docs/errors.md`. */
import { errorExample, errorExampleV1, type Route, routes, statusesByCode } from "@accountlink/http-api";

export type Code = keyof typeof statusesByCode;

export const errorCodes = Object.keys(statusesByCode) as ReadonlyArray<Code>;

/** From the root of the site. */
export const errorPath = (code: string): string => `errors/${code}.html`;

/** The page as Markdown of the folder `errors`; `document` is `docs/errors.md`. */
export const errorMarkdown = (code: Code, document: string): string => {
  const [[, statuses, details, when] = []] = rowsFor(document, "| code | status |", code);
  const [[, messages] = []] = rowsFor(document, "| code | message |", code);
  const answering = (generation: Route["generation"]) =>
    routes.filter((route) => route.generation === generation && route.codes.has(code));
  return [
    `# ${code}`,
    sentence(when),
    `- HTTP status: ${statuses}`,
    `- \`details\`: ${details}`,
    `- \`message\`: ${messages}`,
    "## What a client should do",
    ...rowsFor(document, "| code | a client should |", code).map(([codes, advice]) => {
      const status = /` (\d+)$/.exec(codes ?? "")?.[1];
      return sentence(status === undefined ? advice : `With ${status}: ${advice}`);
    }),
    "## An answer of v2",
    answerOf(errorExample(statusesByCode[code][0], code)),
    routesText(code, answering("v2")),
    "## An answer of v1",
    ...answerOfV1(code, answering("v1")),
    `All codes are in the [reference of errors](../docs/errors.md).`,
  ].join("\n\n");
};

const answerOf = (answer: unknown): string => `\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``;

const answerOfV1 = (code: Code, answering: ReadonlyArray<Route>): ReadonlyArray<string> => {
  const [route] = answering;
  if (route === undefined) return ["No route of v1 answers with it."];
  const wording = route.wordings?.[code];
  const status = wording?.status ?? statusesByCode[code][0];
  return [answerOf(errorExampleV1(status, code, wording)), routesText(code, answering)];
};

const routesText = (code: Code, answering: ReadonlyArray<Route>): string => {
  if (answering.length === 0) return "Routes of the dashboard answer with it.";
  const texts = answering.map(({ method, path, wordings }) => {
    const wording = wordings?.[code];
    const own = wording === undefined ? "" : `, ${wording.status} \`${wording.message}\``;
    return `- \`${method} ${path}\`${own}`;
  });
  return ["Routes that answer with it:", "", ...texts].join("\n");
};

/** The text of a cell, whose links are written from the folder of the document. */
const sentence = (cell = ""): string => {
  const text = cell.replaceAll(/\]\((\w+\.md)/g, "](../docs/$1");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
};

/** The cells of each row of the table that begins so. */
const rowsOf = (document: string, heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, table = ""] = document.split(`\n${heading}`);
  const rows = table.split("\n\n")[0]?.split("\n").slice(2) ?? [];
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
};

/** Those about a code; at least one. */
const rowsFor = (document: string, heading: string, code: Code): ReadonlyArray<ReadonlyArray<string>> => {
  const rows = rowsOf(document, heading).filter(([codes]) => codes?.includes(`\`${code}\``));
  if (rows.length > 0) return rows;
  throw new Error(`Cannot describe ${code}: docs/errors.md has no row under "${heading}"`);
};

/** `docs/errors.md` with a link from each code of its first table to the page of the code. */
export const withErrorLinks = (document: string): string =>
  errorCodes.reduce(
    (text, code) => text.replace(`\n| \`${code}\` | `, `\n| [\`${code}\`](../errors/${code}.md) | `),
    document,
  );
