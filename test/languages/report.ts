/** What a language lacks: for translators, and for the proof. */
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

/** Returns the keys of English messages that have changed since the record. New messages have no translation to change. */
export const changedKeys = (recorded: Texts, source: Texts): ReadonlyArray<string> =>
  Object.keys(recorded).filter((key) => source[key] !== undefined && recorded[key] !== hash(source[key]));

/** The record of the English messages, as it has to be now. */
export const hashesOf = (source: Texts): Texts =>
  Object.fromEntries(Object.entries(source).map(([key, text]) => [key, hash(text)]));

const withoutKeys = <V>(values: Readonly<Record<string, V>>, keys: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));

/** By language and key, the hash of the translation that is older than the English message. */
type Stale = Readonly<Record<string, Texts>>;

/** By key, the languages whose translation stayed although the English message changed, and why. */
type Kept = Readonly<Record<string, { readonly in: string; readonly because: string }>>;

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
 */
export const catalogueIn = (path: string, tags: ReadonlyArray<string>) => {
  const here = new URL(path, folder);
  const english = readTexts(new URL("en.json", here)) ?? {};
  /** By key, the hash of the English message that translators were told of. */
  const hashesFile = new URL("context/english_hashes.json", here);
  const staleFile = new URL("context/stale.json", here);
  const keptFile = new URL("context/kept.json", here);
  const recordedHashes = readTexts(hashesFile) ?? {};
  const readStale = (): Stale => (readJson(staleFile) ?? {}) as Stale;
  const readKept = (): Kept => (readJson(keptFile) ?? {}) as Kept;
  const textsOf = (tag: string): Texts => readTexts(new URL(`${tag}.json`, here)) ?? {};

  return {
    tags,
    english,
    recordedHashes,
    /** Where each message stands, how long it may be, and what its values hold. */
    notes: readTexts(new URL("context/en.notes.json", here)) ?? {},

    /** Lists changed English messages as stale in every language, and forgets those that are gone. */
    record: (): ReadonlyArray<string> => {
      const changed = changedKeys(recordedHashes, english);
      const stale = readStale();
      const listed = tags.map((tag) => {
        const texts = textsOf(tag);
        const hashes = Object.fromEntries(changed.map((key) => [key, hash(texts[key] ?? "")]));
        return [tag, { ...hashes, ...stale[tag] }] as const;
      });
      write(staleFile, Object.fromEntries(listed.filter(([, hashes]) => Object.keys(hashes).length > 0)));
      write(keptFile, withoutKeys(readKept(), changed));
      write(hashesFile, hashesOf(english));
      return changed;
    },

    /**
     * Takes keys off the list of a language. Fails if the text of one is still the same, unless a translator says why.
     *
     * @param because why the translations stay, which is kept with them; null if they have changed
     */
    markTranslated: (tag: string, keys: ReadonlyArray<string>, because: string | null): void => {
      const { [tag]: before = {}, ...others } = readStale();
      const texts = textsOf(tag);
      const same = keys.filter((key) => before[key] === hash(texts[key] ?? ""));
      if (same.length > 0 && because === null)
        throw new Error(
          `Cannot take ${same.join(", ")} off the list of ${tag}: the text is the one from before. Translate it, or say ` +
            'why it stays: npm run languages -- kept xx "why" key...',
        );
      const kept = readKept();
      const stays = same.map((key) => {
        const tagged = new Set([...(kept[key]?.in ?? "").split(" ").filter(Boolean), tag]);
        return [key, { in: [...tagged].join(" "), because: because ?? "" }] as const;
      });
      if (stays.length > 0) write(keptFile, { ...kept, ...Object.fromEntries(stays) });
      const left = withoutKeys(before, keys);
      write(staleFile, Object.keys(left).length === 0 ? others : { ...others, [tag]: left });
    },

    /** Returns null if the language has no file. */
    reportOf: (tag: string): Report | null => {
      const messages = readTexts(new URL(`${tag}.json`, here));
      if (messages === null) return null;
      const keys = Object.keys(english).filter((key) => Object.hasOwn(messages, key));
      const staleKeys = new Set([
        ...Object.keys(readStale()[tag] ?? {}),
        ...changedKeys(recordedHashes, english),
      ]);
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
