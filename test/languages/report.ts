/** What a language lacks: for translators, and for the proof. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import {
  dashboardTags,
  faultsOf,
  languages,
  languageTags,
  limitOf,
  offeredShare,
} from "@accountlink/pages/languages";
import { writingFaults } from "../../packages/pages/languages/test_writing_faults.ts";

export type Texts = Readonly<Record<string, string>>;

const folder = new URL("../../packages/pages/languages/", import.meta.url);

const readJson = (file: URL): unknown => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null);

const readTexts = (file: URL): Texts | null => readJson(file) as Texts | null;

const write = (file: URL, value: unknown): void => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

/** The words of each language for what the service is about. */
export const terms = readJson(new URL("context/terms.json", folder)) as Readonly<Record<string, Texts>>;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

interface StaleFile {
  /** Git's ID of `en.json` as it was at the last `record`. */
  readonly english?: string;
  /** By language and key, the hash of the translation that is older than the English message. */
  readonly translations: Readonly<Record<string, Texts>>;
}

/** Returns Git's ID of a file with this text. */
const blobIdOf = (text: string): string =>
  createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex");

const git = (cwd: URL, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd, encoding: "utf8", stdio: "pipe" });

/** Returns a version of `en.json` that Git keeps: of a commit, or of a `record` before its commit. */
const readBlob = (cwd: URL, id: string): Texts => {
  try {
    return JSON.parse(git(cwd, "cat-file", "blob", id));
  } catch (cause) {
    const message = `Cannot find the recorded English messages: Git has no blob ${id}, expected a checkout with history`;
    throw new Error(message, { cause });
  }
};

export interface Report {
  /** The share of the English messages that the language has. */
  readonly share: number;
  readonly faults: ReadonlyArray<string>;
  readonly missing: ReadonlyArray<string>;
  /** Translations of an English message that has changed since. */
  readonly stale: ReadonlyArray<string>;
  /** The texts that the chat platform limits: how long each is, and how long it may be. */
  readonly limited: ReadonlyArray<readonly [key: string, length: number, limit: number]>;
}

/**
 * A catalogue of messages in a folder, with its context.
 *
 * @param tags the languages into which English is translated
 * @param readRecorded returns the English messages of the last record, if they have changed
 */
export const catalogueIn = (path: string, tags: ReadonlyArray<string>, readRecorded = readBlob) => {
  const here = new URL(path, folder);
  const source = readFileSync(new URL("en.json", here), "utf8");
  const english: Texts = JSON.parse(source);
  const staleFile = new URL("context/stale.json", here);
  const readStale = (): StaleFile => (readJson(staleFile) ?? { translations: {} }) as StaleFile;
  const isRecorded = (): boolean => readStale().english === blobIdOf(source);
  /** Returns the keys of messages that have changed since the record. New messages have no translation to change. */
  const changedKeys = (): ReadonlyArray<string> => {
    const { english: id } = readStale();
    if (id === undefined || isRecorded()) return [];
    const recorded = readRecorded(here, id);
    return Object.keys(recorded).filter(
      (key) => Object.hasOwn(english, key) && recorded[key] !== english[key],
    );
  };
  const textsOf = (tag: string): Texts => readTexts(new URL(`${tag}.json`, here)) ?? {};

  return {
    tags,
    english,
    isRecorded,
    /** Where each message stands, how long it may be, and what its values hold. */
    notes: readTexts(new URL("context/en.notes.json", here)) ?? {},

    /** Lists changed English messages as stale in every language. */
    record: (): ReadonlyArray<string> => {
      const changed = changedKeys();
      const { translations } = readStale();
      const listed = tags.map((tag) => {
        const texts = textsOf(tag);
        const hashes = Object.fromEntries(changed.map((key) => [key, hash(texts[key] ?? "")]));
        return [tag, { ...hashes, ...translations[tag] }] as const;
      });
      write(staleFile, {
        english: git(here, "hash-object", "-w", "--no-filters", "en.json").trim(),
        translations: Object.fromEntries(listed.filter(([, hashes]) => Object.keys(hashes).length > 0)),
      });
      return changed;
    },

    /**
     * Takes keys off the list of a language, and returns those whose text is still the same. Fails if there are any,
     * unless a translator says why.
     *
     * @param because why the translations stay; null if they have changed
     */
    markTranslated: (
      tag: string,
      keys: ReadonlyArray<string>,
      because: string | null,
    ): ReadonlyArray<string> => {
      const { english: recorded, translations } = readStale();
      const { [tag]: before = {}, ...others } = translations;
      const texts = textsOf(tag);
      const same = keys.filter((key) => before[key] === hash(texts[key] ?? ""));
      if (same.length > 0 && because === null)
        throw new Error(
          `Cannot take ${same.join(", ")} off the list of ${tag}: the text is the one from before. Translate it, or say ` +
            'why it stays: npm run languages -- kept xx "why" key...',
        );
      const left = Object.entries(before).filter(([key]) => !keys.includes(key));
      write(staleFile, {
        english: recorded,
        translations: left.length === 0 ? others : { ...others, [tag]: Object.fromEntries(left) },
      });
      return same;
    },

    /** Returns null if the language has no file. */
    reportOf: (tag: string): Report | null => {
      const messages = readTexts(new URL(`${tag}.json`, here));
      if (messages === null) return null;
      const keys = Object.keys(english).filter((key) => Object.hasOwn(messages, key));
      const staleKeys = new Set([...Object.keys(readStale().translations[tag] ?? {}), ...changedKeys()]);
      return {
        share: keys.length / Object.keys(english).length,
        faults: [...faultsOf(tag, messages, english), ...writingFaults(tag, messages, english)],
        missing: Object.keys(english).filter((key) => !Object.hasOwn(messages, key)),
        stale: keys.filter((key) => staleKeys.has(key)),
        limited: keys.flatMap((key) => {
          const limit = limitOf(key);
          return limit === null || limit > 100 ? [] : [[key, messages[key]?.length ?? 0, limit] as const];
        }),
      };
    },
  };
};

export type MessageCatalogue = ReturnType<typeof catalogueIn>;

const others = (tags: ReadonlyArray<string>) => tags.filter((tag) => tag !== "en");

/** What players and members read. */
export const players = catalogueIn("./", others(Object.keys(languages)));

/** What owners and moderators read. */
export const dashboard = catalogueIn("./dashboard/", others(dashboardTags));

/** Returns the report as lines of text. */
export const linesOf = (
  tag: string,
  { english, notes }: Pick<MessageCatalogue, "english" | "notes">,
  report: Report,
): ReadonlyArray<string> => {
  const { share, faults, missing, stale, limited } = report;
  const state = Object.entries(languages).find(([name]) => name === tag)?.[1].state;
  const offered = (languageTags as ReadonlyArray<string>).includes(tag) ? "offered" : "not offered";
  const named = (keys: ReadonlyArray<string>) =>
    keys.flatMap((key) => [`  ${key}: ${english[key]}`, `    ${notes[key] ?? "without a note"}`]);
  return [
    `${tag}: ${shareText(share)} of ${Object.keys(english).length} messages, ${
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

const shareText = (share: number): string => `${Math.floor(share * 1_000) / 10} %`;

/** Returns what a language lacks of the dashboard. */
export const dashboardLinesOf = (
  tag: string,
  { english }: Pick<MessageCatalogue, "english">,
  { share, faults, missing, stale }: Report,
): ReadonlyArray<string> => [
  `Dashboard in ${tag}: ${shareText(share)} of ${Object.keys(english).length} messages; readers get the others in English`,
  `Faults: ${faults.length}`,
  ...faults.map((fault) => `  ${fault}`),
  `Missing: ${missing.length}`,
  ...missing.map((key) => `  ${key}: ${english[key]}`),
  `Stale, because the English message has changed: ${stale.length}`,
  ...stale.map((key) => `  ${key}: ${english[key]}`),
];
