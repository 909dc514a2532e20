import { open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { ApiKeys, type ScopeTarget } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import {
  type ChatHash,
  type ImportOutcome,
  importLinks,
  type LeftOutLine,
  type LeftOutRows,
  leftOutHeader,
  leftOutReasons,
  leftOutRow,
  linkReaderNames,
  type ReadOptions,
  type UnclearTime,
  type UnreadableLinkFile,
  type WordChoice,
  type WrongLines,
} from "@accountlink/core/imports";
import { KeyStore, type NewAccount } from "@accountlink/core/keys";
import { Secrets } from "@accountlink/core/secrets";
import { Clock, Effect, Option } from "effect";
import { Argument, Command, Flag } from "effect/cli";
import {
  accountFlag,
  checkNewAccount,
  checkScope,
  guildFlag,
  refuse,
  scopeFlags,
  scopeText,
  switchFlag,
  targetOf,
} from "../../cli/flags.ts";
import { answer, countOf, formatCount } from "../../cli/output.ts";
import { progressBar } from "../../cli/progress.ts";
import { CommandFailed, reportFailure } from "../../cli/report.ts";
import { StorageLocation } from "../../config/resolved_config.ts";
import { describe, operatorOrigin } from "../command.ts";
import { managementLayer } from "../management_layer.ts";
import { openSource } from "./link_source.ts";

const namedFlag = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);

const flags = {
  file: Argument.String("file").pipe(Argument.withDescription("The file, or - for standard input")),
  account: accountFlag.pipe(
    Flag.withDescription("Account that owns the links, created if it does not exist"),
  ),
  ...scopeFlags,
  format: Flag.Literals("format", [...linkReaderNames, "sqlite"]).pipe(
    Flag.withDescription("Format of the file (default: auto, detected from its beginning)"),
    Flag.withDefault("auto"),
  ),
  table: namedFlag("table", "name", "Table of an SQLite file (default: the only one that has links)"),
  chatColumn: namedFlag("chat-column", "name", "Column of chat IDs, if its name is not recognized"),
  gameColumn: namedFlag("game-column", "name", "Column of game IDs, if its name is not recognized"),
  timeColumn: namedFlag("time-column", "name", "Column of times, if its name is not recognized"),
  verifiedColumn: namedFlag(
    "verified-column",
    "name",
    "Column that says whether a link was verified, if its name is not recognized",
  ),
  ignoreColumns: Flag.String("ignore-column").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription(
      "Column to ignore, although its name suggests a time or verification; can be repeated",
    ),
    Flag.atLeast(0),
  ),
  verifiedWords: Flag.String("verified-word").pipe(
    Flag.withMetavar("word=yes|no|skip"),
    Flag.withDescription(
      "What a word in such a column says that has no known meaning: the link was verified (yes), it was " +
        "not (no), or nobody knows (skip, its rows are skipped); can be repeated",
    ),
    Flag.atLeast(0),
  ),
  unclearTimes: Flag.Literals("unclear-times", ["day-first", "month-first", "unknown"]).pipe(
    Flag.withDescription(
      "How a date such as 04/05/2021 is read if no other date of the file tells the order, or that it is " +
        "unknown; a time that cannot be read is unknown",
    ),
    Flag.optional,
  ),
  guild: guildFlag("guild").pipe(
    Flag.withDescription("Import only the rows of this guild, by the column guildId"),
    Flag.optional,
  ),
  onConflict: Flag.Literals("on-conflict", ["keep", "replace", "newest"]).pipe(
    Flag.withDescription(
      "Which link wins if a chat user already has another: the stored one (keep), the file's " +
        "(replace), or the one verified last (default: newest)",
    ),
    Flag.withDefault("newest"),
  ),
  dryRun: switchFlag("dry-run", "Store nothing, and say what would be stored"),
  strict: switchFlag("strict", "Store nothing if a single row is wrong"),
  fromStart: switchFlag("from-start", "Import the whole file again after an interruption"),
  rejects: namedFlag("rejects", "file", "Write skipped rows to this CSV file, with line and reason"),
};

type Choice = Command.Command.Config.Infer<typeof flags>;

export const importLinksCommand = Command.make("import", flags, (choice) =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis;
    const isNewAccount = yield* isUnknown(choice.account);
    if (isNewAccount) yield* checkNewAccount(choice.account);
    const outcome = yield* Effect.scoped(run(choice)).pipe(
      Effect.catchTags({
        WrongLines: (wrong) => Effect.fail(refusal(choice, wrong)),
        ImportEnded: ({ message }) => new CommandFailed({ problem: message }),
        UnreadableLinkFile: (error) => unreadable(choice, error),
      }),
    );
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000;
    const location = yield* StorageLocation;
    const taken = outcome.inserted + outcome.replaced;
    yield* answer(
      { dryRun: choice.dryRun, taken, ...outcome, isNewAccount, seconds, ...location.json },
      summary(choice, outcome, isNewAccount, seconds, location),
    );
  }).pipe(
    Effect.onInterrupt(() => reportFailure(interruption(choice))),
    Effect.provide(managementLayer(choice.dryRun ? "refuse" : "make")),
  ),
).pipe(
  Command.validate((choice: Choice) => checkScope(choice)),
  Command.validate(({ verifiedWords }: Choice) => {
    const wrong = verifiedWords.find((text) => !wordPattern.test(text));
    return wrong === undefined
      ? Effect.void
      : refuse(`--verified-word is "${wrong}", expected a word with its meaning, such as maybe=no`);
  }),
  Command.validate(({ file, rejects }: Choice) =>
    Option.exists(rejects, (name) => resolve(name) === resolve(file))
      ? refuse("--rejects is the file itself, expected another one")
      : Effect.void,
  ),
  describe(
    [
      "Import links from a file of any size, also next to a running server: CSV, NDJSON, a JSON " +
        "array, a JSON object of ID to ID, an export of MongoDB, or a table of an SQLite file.",
      "The columns may have the names that other systems use, in any letter case, such as Discord " +
        "ID, discord_id, user_id and roblox_id; verifiedAt, linked_at, created_at and similar ones " +
        "are the time. Rows whose verified, status, deleted_at or similar column says that the link is not " +
        "verified, or over, are left out. Columns that are not read are listed. A column that may say when or whether a " +
        "link was verified, a word whose meaning is not known, and a time that is not clear stop " +
        "the import until the column is named or ignored, or a flag says how to read it.",
      "Each row is taken or left out, and the report says why. The same command resumes an " +
        "interrupted import, and does not repeat a completed one. Standard input is stored as it arrives.",
    ],
    {
      "accountlink links import links.csv --account acme --dry-run": "See what would happen",
      "accountlink links import links.csv --account acme --rejects left_out.csv":
        "Into the account's global scope, with a file of skipped rows",
      "zcat links.json.gz | accountlink links import - --account acme --on-conflict replace":
        "From a pipe, replacing existing links",
    },
  ),
);

const run = Effect.fnUntraced(function* (choice: Choice) {
  const unreadColumns = new Set<string>();
  const { source, progressOf } = yield* openSource(choice, { ...readOptions(choice), unreadColumns });
  const findScope = scopeFor(choice.account, targetOf(choice), choice.dryRun);
  const show = yield* progressBar();
  const reject = Option.isSome(choice.rejects) ? yield* openRejects(choice.rejects.value) : () => Effect.void;
  const { blockHash } = yield* Secrets;
  const chatHash: ChatHash = (pid, chatId) => blockHash(pid, { chatId, gameId: null });
  const name = choice.file === "-" ? "standard input" : basename(choice.file);
  const file = { id: crypto.randomUUID(), name, isUndoable: false };
  const target = { findScope, file, origin: operatorOrigin(), chatHash };
  return yield* importLinks({ ...source, unreadColumns }, target, choice, {
    onProgress: (progress) => show(progressOf(progress)),
    onLeftOut: reject,
  });
});

/** A word and its meaning. The word itself may have a `=`. */
const wordPattern = /^(.+)=(yes|no|skip)$/s;

const wordChoices = (texts: ReadonlyArray<string>): Readonly<Record<string, WordChoice>> =>
  Object.fromEntries(
    texts.map((text) => {
      const [, word = "", meaning] = wordPattern.exec(text) ?? [];
      return [word.trim().toLowerCase(), meaning as WordChoice];
    }),
  );

const placeOf = ({ column, rows }: Pick<UnclearTime, "column" | "rows">) =>
  `in column ${JSON.stringify(column)} of ${countOf(rows, "row")}`;

const unreadable = (
  { file }: Choice,
  { line, reason, unclearColumns = [], oddWords = [], unclearTimes = [] }: UnreadableLinkFile,
): CommandFailed => {
  const answers = [
    ...(oddWords.length > 0 ? ["--verified-word WORD=yes, =no or =skip for each word"] : []),
    ...(unclearTimes.length > 0 ? ["--unclear-times day-first, month-first or unknown"] : []),
  ];
  const flag = answers.length > 0 ? ` (${answers.join(", ")}, or --ignore-column)` : columnFlags;
  return new CommandFailed({
    notes: [
      ...oddWords.map((odd) => `${JSON.stringify(odd.word)} stands ${placeOf(odd)}`),
      ...unclearTimes.map(
        (unclear) => `${JSON.stringify(unclear.time)} and the like stand ${placeOf(unclear)}`,
      ),
    ],
    problem: `Cannot import "${file}": line ${line}: ${reason}${unclearColumns.length === 0 ? "" : flag}`,
    ...(unclearColumns.length === 0 ? {} : { details: { unclearColumns, oddWords, unclearTimes } }),
  });
};

const columnFlags = " (--time-column, --verified-column or --ignore-column)";

const readOptions = (choice: Choice): ReadOptions => ({
  chatColumn: Option.getOrUndefined(choice.chatColumn),
  gameColumn: Option.getOrUndefined(choice.gameColumn),
  timeColumn: Option.getOrUndefined(choice.timeColumn),
  verifiedColumn: Option.getOrUndefined(choice.verifiedColumn),
  verifiedWords: wordChoices(choice.verifiedWords),
  ignoreColumns: choice.ignoreColumns,
  unclearTimes: Option.getOrUndefined(choice.unclearTimes),
  guildId: Option.getOrUndefined(choice.guild),
});

const isUnknown = (name: string) =>
  Effect.flatMap(KeyStore, (store) => Effect.map(store.findAccount(name), Option.isNone));

const interruption = ({ file, dryRun }: Choice): CommandFailed => {
  const stays = dryRun ? "Interrupted" : "Interrupted: what was stored stays";
  const resumable = !dryRun && file !== "-";
  return new CommandFailed({
    problem: resumable ? `${stays}, and the same command continues from there` : stays,
  });
};

/** Returns the public ID of the scope. Creates a missing scope; in a dry run, returns null instead. */
const scopeFor = Effect.fnUntraced(function* (name: string, target: ScopeTarget, dryRun: boolean) {
  const store = yield* KeyStore;
  if (dryRun) return Option.getOrNull(Option.map(yield* store.findScope(name, target), ({ pid }) => pid));
  const made: NewAccount = { name, chatId: null, tier: "free" };
  return (yield* (yield* ApiKeys).scopeOf(made, target)).pid;
});

const refusal = ({ file, strict }: Choice, { count, problems, stored }: WrongLines) =>
  new CommandFailed({
    notes: [
      ...problems.map(lineNote),
      ...(count > problems.length ? [`and ${countOf(count - problems.length, "row")} more`] : []),
    ],
    problem: `Cannot import "${file}": ${countOf(count, "row")} ${count === 1 ? "is" : "are"} wrong, expected ${
      strict ? "none with --strict" : "some that are not"
    }; ${stored === 0 ? "nothing was stored" : `${countOf(stored, "link")} before were stored`}`,
    details: { wrong: count, problems, stored },
  });

const lineNote = ({ line, problem }: LeftOutLine): string => `line ${line}: ${problem}`;

const reasonNotes = ({ reason, count, first }: LeftOutRows): ReadonlyArray<string> => [
  `  ${formatCount(count)}: ${leftOutReasons[reason]}`,
  ...first.map((row) => `    ${lineNote(row)}`),
  ...(count > first.length ? [`    and ${countOf(count - first.length, "row")} more`] : []),
];

const listOf = (names: ReadonlyArray<string>): string => names.map((name) => JSON.stringify(name)).join(", ");

const summary = (
  choice: Choice,
  outcome: ImportOutcome,
  isNewAccount: boolean,
  seconds: number,
  location: StorageLocation["Service"],
): string => {
  const { inserted, replaced, unchanged, kept, leftOut, reasons, resumedAfter, unreadColumns } = outcome;
  const { account, dryRun, rejects } = choice;
  const scope = `the ${scopeText(targetOf(choice))} scope of account "${account}" in ${location.text}`;
  const did = `${dryRun ? "Would import" : "Imported"} ${countOf(inserted + replaced, "link")} into ${scope}`;
  const from = resumedAfter === 0 ? "" : `, going on after row ${formatCount(resumedAfter)}`;
  const counts = [
    `${formatCount(inserted + replaced)} taken (${formatCount(inserted)} new, ${formatCount(replaced)} replaced)`,
    `${formatCount(unchanged)} unchanged`,
    `${formatCount(kept)} kept as the store has them`,
    `${countOf(leftOut, "row")} left out`,
  ].join(", ");
  const made = dryRun ? "does not exist, and would be made" : "did not exist, and was made";
  return [
    `${did}${from}, in ${seconds.toFixed(1)} s: ${counts}`,
    ...(isNewAccount ? [`Account "${account}" ${made}`] : []),
    ...(unreadColumns.length === 0 ? [] : [`Columns not read: ${listOf(unreadColumns)}`]),
    ...reasons.flatMap(reasonNotes),
    ...(Option.isSome(rejects) ? [`All rows that were left out are in "${rejects.value}"`] : []),
  ].join("\n");
};

/** Opens the file of `--rejects`, and returns a function that appends the rows that an import skipped. */
const openRejects = Effect.fnUntraced(function* (file: string) {
  const failed = (cause: unknown) =>
    new CommandFailed({ problem: `Cannot write "${file}": ${reasonOf(cause)}` });
  const handle = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(file, "w"), catch: failed }),
    (opened) => Effect.promise(() => opened.close()),
  );
  const write = (text: string) =>
    Effect.asVoid(Effect.tryPromise({ try: () => handle.appendFile(text), catch: failed }));
  yield* write(leftOutHeader);
  return (rows: ReadonlyArray<LeftOutLine>) =>
    rows.length === 0 ? Effect.void : write(rows.map(leftOutRow).join(""));
});
