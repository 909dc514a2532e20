/**
 * Generated types, which git ignores: the types of the client, from the contract, and the types of messages, from their
 * English catalogues. Run as a program, it writes them.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { needsOf } from "../packages/pages/languages/message_faults.ts";
import { typescriptContract } from "./client_contract.ts";

const packages = new URL("../packages/", import.meta.url);
const catalogues = ["pages/languages/", "pages/languages/dashboard/"];

/** Writes each file of types whose source has changed. */
export const writeTypes = (): void => {
  write("client/contract.ts", typescriptContract());
  for (const folder of catalogues) {
    const english = readFileSync(new URL(`${folder}en.json`, packages), "utf8");
    write(`${folder}message_values.ts`, messageValues(JSON.parse(english)));
  }
};

const write = (path: string, text: string): void => {
  const file = new URL(path, packages);
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
};

const valuesOf = (key: string, message: string) => {
  try {
    return Object.entries(needsOf("en", message).values);
  } catch (cause) {
    throw new Error(`Cannot read the English message ${key}`, { cause });
  }
};

/** Generates the types of the values of messages. */
const messageValues = (english: Readonly<Record<string, string>>): string => {
  const types = { text: "Text", number: "number", tag: "Tag" };
  const typesByName = new Map<string, Set<string>>();
  const names = Object.entries(english).flatMap(([key, message]) => {
    const values = valuesOf(key, message);
    for (const [name, kind] of values) {
      typesByName.set(name, (typesByName.get(name) ?? new Set()).add(types[kind]));
    }
    return values.length === 0
      ? []
      : [`  readonly "${key}": ${values.map(([name]) => `"${name}"`).join(" | ")};`];
  });
  const values = [...typesByName]
    .map(([name, of]) => `  readonly ${name}: ${[...of].join(" | ")};`)
    .toSorted();
  return `/** The names of the values of each message that has some. Generated from \`en.json\`. */
export interface ValueNames {
${names.join("\n")}
}

/** The type of each value. */
export interface MessageValues<Text, Tag> {
${values.join("\n")}
}
`;
};

if (import.meta.main) writeTypes();
