/** What a language lacks: for translators, and for the proof. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { faultsOf, languages, languageTags, limitOf, offeredShare } from "@accountlink/pages/languages";

type Texts = Readonly<Record<string, string>>;

const folder = new URL("../../packages/pages/languages/", import.meta.url);

const readTexts = (path: string): Texts | null => {
  const file = new URL(path, folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
};

export const english: Texts = readTexts("en.json") ?? {};

/** Where each message stands, how long it may be, and what its values hold. */
export const notes: Texts = readTexts("context/en.notes.json") ?? {};

/** The words of each language for what the service is about. */
export const terms: Readonly<Record<string, Texts>> = JSON.parse(
  readFileSync(new URL("context/terms.json", folder), "utf8"),
);

/** The languages into which English is translated. */
export const tags: ReadonlyArray<string> = Object.keys(languages).filter((tag) => tag !== "en");

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** By key, the hashes of an English message and of the translation that was made from it. */
const recordPath = (tag: string): string => `context/made_from/${tag}.json`;

/** A translation is made from the current English, unless it is still the recorded one. */
export const madeFrom = (recorded: string | undefined, source: string, translation: string): string => {
  const own = hash(translation);
  return recorded?.endsWith(` ${own}`) ? recorded : `${hash(source)} ${own}`;
};

export const isStale = (made: string, source: string): boolean => !made.startsWith(`${hash(source)} `);

export interface Report {
  /** The share of the English messages that the language has. */
  readonly share: number;
  readonly faults: ReadonlyArray<string>;
  readonly missing: ReadonlyArray<string>;
  /** Translations of an English message that has changed since. */
  readonly stale: ReadonlyArray<string>;
  /** The texts that the chat platform limits: how long each is, and how long it may be. */
  readonly limited: ReadonlyArray<readonly [key: string, length: number, limit: number]>;
  /** The record of what each translation was made from, as it has to be now. */
  readonly record: Texts;
  /** Whether the stored record lacks a translation, or has one that is gone. */
  readonly isRecorded: boolean;
}

/** Returns null if the language has no file. */
export const reportOf = (tag: string): Report | null => {
  const messages = readTexts(`${tag}.json`);
  if (messages === null) return null;
  const keys = Object.keys(english).filter((key) => Object.hasOwn(messages, key));
  const recorded = readTexts(recordPath(tag)) ?? {};
  const entries = keys.map(
    (key) => [key, madeFrom(recorded[key], english[key] ?? "", messages[key] ?? "")] as const,
  );
  const record = Object.fromEntries(entries);
  return {
    share: keys.length / Object.keys(english).length,
    faults: faultsOf(tag, messages, english),
    missing: Object.keys(english).filter((key) => !Object.hasOwn(messages, key)),
    stale: entries.flatMap(([key, made]) => (isStale(made, english[key] ?? "") ? [key] : [])),
    limited: keys.flatMap((key) => {
      const limit = limitOf(key);
      return limit === null || limit > 100 ? [] : [[key, messages[key]?.length ?? 0, limit] as const];
    }),
    record,
    isRecorded: JSON.stringify(recorded) === JSON.stringify(record),
  };
};

export const writeRecord = (tag: string, { record }: Report): void =>
  writeFileSync(new URL(recordPath(tag), folder), `${JSON.stringify(record, null, 2)}\n`);

/** Returns the report as lines of text. */
export const linesOf = (tag: string, report: Report): ReadonlyArray<string> => {
  const { share, faults, missing, stale, limited } = report;
  const state = Object.entries(languages).find(([name]) => name === tag)?.[1].state;
  const offered = (languageTags as ReadonlyArray<string>).includes(tag) ? "offered" : "not offered";
  const named = (keys: ReadonlyArray<string>) =>
    keys.flatMap((key) => [`  ${key}: ${english[key]}`, `    ${notes[key] ?? "without a note"}`]);
  return [
    `${tag}: ${Math.floor(share * 1_000) / 10} % of ${Object.keys(english).length} messages, ${
      state === undefined ? "without a line in languages.ts" : `${state}, ${offered}`
    }; a language is offered from ${offeredShare * 100} % on`,
    `Terms: ${
      Object.entries(terms[tag] ?? {})
        .map(([term, word]) => `${term} = ${word}`)
        .join("; ") || "none in context/terms.json"
    }`,
    `Faults: ${faults.length}`,
    ...faults.map((fault) => `  ${fault}`),
    `Missing: ${missing.length}`,
    ...named(missing),
    `Stale, because the English message has changed: ${stale.length}`,
    ...named(stale),
    "Limits of the chat platform:",
    ...limited.map(([key, length, limit]) => `  ${key}: ${length} of ${limit}`),
  ];
};
