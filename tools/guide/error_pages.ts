/** Generates a page for each error code, and the tables of `docs/errors.md`, from the table of errors. */
import {
  dashboardReasons,
  errorCodes,
  errorExample,
  errorExampleV1,
  errorTable,
  type Reason,
  type Route,
  reasonAdvice,
  routes,
  statusesOf,
  statusOf,
  type Wording,
} from "@accountlink/http-api";
import { Array } from "effect";

type Code = keyof typeof errorTable;
type Row = (typeof errorTable)[Code];

export const errorMarkdown = (code: Code): string => {
  const row: Row = errorTable[code];
  const answering = (generation: Route["generation"]) =>
    routes.filter((route) => route.generation === generation && route.codes.has(code));
  return [
    `# ${code}`,
    `${row.when}.`,
    `- HTTP status: ${statusesOf(code).join(", ")}`,
    `- \`details\`: ${detailsText(row)}`,
    `- \`message\`: ${messagesText(code)}`,
    "## What a client should do",
    // Links in the advice are relative to the folder of the documents, and this page is in another folder.
    withLinksUp(`${row.advice}.`),
    ...reasonsText(row),
    "## An answer of v2",
    answerOf(errorExample(firstStatus(code), code, answering("v2")[0]?.traffic)),
    routesText(code, answering("v2")),
    "## An answer of v1",
    ...answerOfV1(code, answering("v1")),
    `All codes are in the [reference of errors](../docs/errors.md).`,
  ].join("\n\n");
};

const withLinksUp = (text: string): string => text.replaceAll(/\]\((\w+\.md)/g, "](../docs/$1");

/** What each reason in the details of the code asks for. */
const reasonsText = ({ examples }: Row): ReadonlyArray<string> => {
  const reasons = examples.flatMap(({ details }) => Object.values(details ?? {}).filter(isReason));
  return reasons.length === 0
    ? []
    : [reasons.map((reason) => withLinksUp(`- \`${reason}\`: ${reasonAdvice[reason]}.`)).join("\n")];
};

const isReason = (value: unknown): value is Reason => typeof value === "string" && value in reasonAdvice;

const firstStatus = (code: Code): number => Math.min(...statusesOf(code));

const answerOf = (answer: unknown): string => `\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``;

const answerOfV1 = (code: Code, answering: ReadonlyArray<Route>): ReadonlyArray<string> => {
  const [route] = answering;
  if (route === undefined) return ["No route of v1 answers with it."];
  const wording = route.wordings?.[code];
  const status = wording?.status ?? firstStatus(code);
  return [answerOf(errorExampleV1(status, code, wording)), routesText(code, answering)];
};

const routesText = (code: Code, answering: ReadonlyArray<Route>): string => {
  if (answering.length === 0) return "Routes of the dashboard answer with it.";
  const texts = answering.map(({ method, path, wordings }) => {
    const wording = wordings?.[code];
    const own = wording === undefined ? "" : `, ${wording.status} ${wordingText(wording)}`;
    return `- \`${method} ${path}\`${own}`;
  });
  return ["Routes that answer with it:", "", ...texts].join("\n");
};

/**
 * Describes the `details` of an error: their shape, and every one-word text in the examples, such as the values of
 * `reason`.
 */
const detailsText = (row: Row): string => {
  const values = row.examples.flatMap(({ details }) => Object.values(details ?? {}));
  const names = values.filter((value): value is string => typeof value === "string" && /^\w+$/.test(value));
  return `${detailsShape(row)}${names.length === 0 ? "" : `: ${names.map(quoted).join(", ")}`}`;
};

const detailsShape = ({ examples: [first] }: Row): string =>
  first === undefined || first.details === null ? "null" : quoted(shapeOf(first.details));

/** Returns the shape of a value, such as `{"parameters": [{"name", "reason"}]}`. */
const shapeOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${shapeOf(value[0])}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) =>
    typeof field === "object" ? `"${name}": ${shapeOf(field)}` : `"${name}"`,
  );
  return `{${fields.join(", ")}}`;
};

const messagesText = (code: Code): string => {
  const { examples }: Row = errorTable[code];
  const hasOneStatus = statusesOf(code).length === 1;
  const texts = examples.map((error) =>
    hasOneStatus ? quoted(error.message) : `${statusOf(error)} ${quoted(error.message)}`,
  );
  return [...new Set(texts)].join(" · ");
};

const wordingText = ({ message }: Pick<Wording, "message">): string =>
  (typeof message === "string" ? [message] : Object.values(message)).map(quoted).join(" · ");

const quoted = (text: string): string => `\`${text}\``;

type Table = ReadonlyArray<ReadonlyArray<string>>;

/** The reasons of the API and the limits; `/docs` lists the reasons of the dashboard at their routes. */
const reasonsOfApi = Object.entries(reasonAdvice).filter(([reason]) => !(reason in dashboardReasons));

const tables: ReadonlyArray<readonly [heading: string, rows: Table]> = [
  [
    "| code | status | `details` | when | a client should |",
    errorCodes.map((code) => [
      quoted(code),
      statusesOf(code).join(", "),
      detailsShape(errorTable[code]),
      errorTable[code].when,
      errorTable[code].advice,
    ]),
  ],
  [
    "| reason, or limit of a 429 | a client should |",
    Object.entries(Array.groupBy(reasonsOfApi, ([, advice]) => advice)).map(([advice, reasons]) => [
      reasons.map(([reason]) => quoted(reason)).join(", "),
      advice,
    ]),
  ],
];

export const withErrorTables = (document: string): string =>
  tables.reduce((text, [heading, rows]) => {
    const lines = text.split("\n");
    const first = lines.indexOf(heading) + 2;
    if (first === 1) throw new Error(`Cannot write the table "${heading}": docs/errors.md does not have it`);
    const count = lines.slice(first).findIndex((line) => !line.startsWith("|"));
    return lines.toSpliced(first, count, ...rows.map((cells) => `| ${cells.join(" | ")} |`)).join("\n");
  }, document);

/** Returns `docs/errors.md` with a link from each code in its first table to the page of the code. */
export const withErrorLinks = (document: string): string =>
  errorCodes.reduce(
    (text, code) => text.replace(`\n| \`${code}\` | `, `\n| [\`${code}\`](../errors/${code}.md) | `),
    document,
  );
