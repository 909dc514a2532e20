/** The report of a package's public surface: a line for each name, in a file that is committed. */
import { createHash } from "node:crypto";
import type { EntrySurface, PublicName } from "./public_surface.ts";

export const reportOf = (surface: ReadonlyArray<EntrySurface>): string =>
  `${[
    "What this package exports. `npm run api` writes this file.",
    ...surface.map(({ specifier, names }) => [specifier, ...names.map(lineOf).toSorted()].join("\n")),
  ].join("\n\n")}\n`;

const lineOf = ({ name, declarations, origin }: PublicName): string => {
  if (origin !== null) return `  ${name}: from ${origin}`;
  return `  ${name}: ${declarations.map(signatureOf).join(" ")}`;
};

/** A declaration in one line, without comments. */
const signatureOf = (declaration: string): string =>
  declaration
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .replace(/^(export )?(declare )?/, "")
    .replace(/\s+/g, " ")
    .trim();

/** The first 10 characters of a hash. */
export const fingerprint = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 10);

/** The lines that only one of two reports has, as in a diff. */
export const differences = (before: string, after: string): ReadonlyArray<string> => {
  const [old, current] = [before, after].map((text) => new Set(text.split("\n")));
  return [
    ...[...(old ?? [])].filter((line) => current?.has(line) !== true).map((line) => `-${line}`),
    ...[...(current ?? [])].filter((line) => old?.has(line) !== true).map((line) => `+${line}`),
  ];
};
