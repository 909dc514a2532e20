/**
 * `accountlink links import`
 */
import { createReadStream } from "node:fs";
import { ApiKeys, type ScopeTarget } from "@accountlink/core";
import { redact } from "@accountlink/core/addresses";
import { KeyStore, type NewAccount } from "@accountlink/core/keys";
import {
  formatOfName,
  type ImportOutcome,
  type ImportProgress,
  importLinks,
  linkFormats,
  type WrongLine,
  type WrongLines,
} from "@accountlink/core/links";
import * as NodeStream from "@effect/platform-node/NodeStream";
import { Clock, Console, Effect, FileSystem, Option, Stdio, Stream } from "effect";
import { Argument, Command, Flag } from "effect/cli";
import { accountFlag, checkScope, formatFlag, scopeFlags, scopeText, targetOf } from "../../cli/flags.ts";
import { answer, countOf, formatCount, Json } from "../../cli/output.ts";
import { type Progress, progressBar } from "../../cli/progress.ts";
import { CommandFailed, reportFailure } from "../../cli/report.ts";
import { paragraphs } from "../../cli/usage.ts";
import { StorageLocation } from "../../config/storage_location.ts";
import { printable, reasonOf } from "../../message_text.ts";
import { managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";

/** The size of reads, in bytes. */
const readSize = 262_144;

const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false));

const flags = {
  file: Argument.String("file").pipe(Argument.withDescription("The file, or - for standard input")),
  account: accountFlag.pipe(
    Flag.withDescription("Account that owns the links, created if it does not exist"),
  ),
  ...scopeFlags,
  format: formatFlag,
  existing: Flag.Literals("existing", ["keep", "replace"]).pipe(
    Flag.withDescription("What to do with existing records of chat users (default: keep)"),
    Flag.withDefault("keep"),
  ),
  dryRun: switchFlag("dry-run", "Store nothing, and say what would be stored"),
  skipInvalid: switchFlag("skip-invalid", "Skip wrong lines; without it a single one rejects the file"),
  fromStart: switchFlag("from-start", "Import the whole file again, also if it was imported before"),
};

type Choice = Command.Command.Config.Infer<typeof flags>;

export const importLinksCommand = Command.make("import", flags, (choice) =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis;
    const { source, progressOf } = yield* openSource(choice);
    const findScope = scopeFor(choice.account, targetOf(choice), choice.dryRun);
    const target = { findScope, origin: operatorOrigin() };
    const outcome = yield* Effect.flatMap(progressBar(), (show) =>
      importLinks(source, target, choice, (progress) => show(progressOf(progress))),
    ).pipe(
      Effect.scoped,
      Effect.catchTags({
        WrongLines: (wrong) => refused(choice.file, wrong),
        UnreadableLinkFile: ({ line, reason }) =>
          new CommandFailed({ problem: `Cannot import "${choice.file}": line ${line}: ${reason}` }),
      }),
    );
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000;
    yield* tellLines(outcome.problems, outcome.refused);
    const location = yield* StorageLocation;
    yield* answer(
      { dryRun: choice.dryRun, ...outcome, seconds, ...location.json },
      summary(choice, outcome, seconds, location),
    );
  }).pipe(
    Effect.onInterrupt(() => reportFailure(interruption(choice))),
    Effect.provide(managementLayer(choice.dryRun ? "refuse" : "make")),
  ),
).pipe(
  Command.validate((choice: Choice) => checkScope(choice)),
  Command.withDescription(
    paragraphs(
      "Import links from a CSV or NDJSON file of any size, also next to a running server.",
      "CSV has the header chatId,gameId,lastVerifiedAt; NDJSON has an object with these fields on each line. A link without a lastVerifiedAt counts as verified now. If a file names a chat user twice, the first line counts when existing records are kept, and the last one when they are replaced.",
      "A file is checked first: if a line is wrong, nothing is stored. The same command resumes an interrupted import, and does not repeat a completed one. Standard input is stored as it arrives.",
    ),
  ),
  Command.withShortDescription("Import links from a CSV or NDJSON file"),
  Command.withExamples([
    {
      command: "accountlink links import links.csv --account acme --dry-run",
      description: "See what would happen",
    },
    {
      command: "accountlink links import links.csv --account acme",
      description: "Into the account's global scope",
    },
    {
      command:
        "zcat links.csv.gz | accountlink links import - --format csv --account acme --existing replace",
      description: "From a pipe, replacing what is there",
    },
  ]),
);

const interruption = ({ file, dryRun }: Choice): CommandFailed => {
  const stays = dryRun ? "Interrupted" : "Interrupted: what was stored stays";
  const resumable = !dryRun && file !== "-";
  return new CommandFailed({
    problem: resumable ? `${stays}, and the same command goes on from there` : stays,
  });
};

const openSource = Effect.fnUntraced(function* ({ file, format }: Choice) {
  const fileSystem = yield* FileSystem.FileSystem;
  const unreadable = (cause: unknown) =>
    new CommandFailed({ problem: `Cannot read "${file}": ${reasonOf(cause)}` });
  const chosen = Option.orElse(format, () => formatOfName(file));
  if (Option.isNone(chosen)) {
    return yield* new CommandFailed({
      problem: `Cannot import "${file}": its format is not known, expected --format csv or --format ndjson`,
    });
  }
  const { read } = linkFormats[chosen.value];
  if (file === "-") {
    const bytes = (yield* Stdio.Stdio).stdin.pipe(Stream.mapError(unreadable));
    return { source: { lines: read(bytes), isRepeatable: false }, progressOf: progressOf(null) };
  }
  const { type, size } = yield* Effect.mapError(fileSystem.stat(file), unreadable);
  const checked = { done: 0, total: Number(size) };
  const bytes = NodeStream.fromReadable({
    evaluate: () => createReadStream(file, { highWaterMark: readSize }),
    onError: unreadable,
  }).pipe(
    Stream.tap((chunk) =>
      Effect.sync(() => {
        checked.done += chunk.length;
      }),
    ),
  );
  return {
    // A pipe can be read once only.
    source: { lines: read(bytes), isRepeatable: type === "File" },
    progressOf: progressOf(checked),
  };
});

/** While a file is checked, only the share of its bytes is known. */
const progressOf =
  (checked: { readonly done: number; readonly total: number } | null) =>
  ({ phase, lines, total }: ImportProgress): Progress =>
    phase === "checking" && checked !== null
      ? { doing: phase, ...checked, unit: null }
      : { doing: phase, done: lines, total, unit: "lines" };

/** The scope, which is created if it does not exist, except in a dry run. */
const scopeFor = Effect.fnUntraced(function* (name: string, target: ScopeTarget, dryRun: boolean) {
  const store = yield* KeyStore;
  if (dryRun) return Option.getOrNull(Option.map(yield* store.findScope(name, target), ({ pid }) => pid));
  const made: NewAccount = { name, chatId: null, tier: "free" };
  return (yield* (yield* ApiKeys).scopeOf(made, target)).pid;
});

const refused = (file: string, { count, problems, stored }: WrongLines) =>
  new CommandFailed({
    notes: lineNotes(problems, count),
    problem: `Cannot import "${file}": ${countOf(count, "line")} ${count === 1 ? "is" : "are"} wrong, expected none (--skip-invalid leaves them out); ${
      stored === 0 ? "nothing was stored" : `${countOf(stored, "link")} before were stored`
    }`,
    details: { refused: count, problems, stored },
  });

const lineNotes = (problems: ReadonlyArray<WrongLine>, count: number): ReadonlyArray<string> => {
  const notes = problems.map(({ line, problem }) => `line ${line}: ${problem}`);
  return count > problems.length ? [...notes, `and ${countOf(count - problems.length, "line")} more`] : notes;
};

/** Prints the wrong lines that were skipped; the JSON output contains them already. */
const tellLines = Effect.fnUntraced(function* (problems: ReadonlyArray<WrongLine>, count: number) {
  if (count > 0 && !(yield* Json))
    yield* Console.error(printable(redact(lineNotes(problems, count).join("\n"))));
});

const summary = (
  choice: Choice,
  outcome: ImportOutcome,
  seconds: number,
  location: StorageLocation["Service"],
): string => {
  const { links, inserted, replaced, kept, refused: left, resumedAfter, doneBefore } = outcome;
  if (doneBefore) {
    return `"${choice.file}" was imported before into ${location.text}, with ${countOf(links, "link")}: nothing was changed (--from-start imports it again)`;
  }
  const scope = `the ${scopeText(targetOf(choice))} scope of account "${choice.account}" in ${location.text}`;
  const did = `${choice.dryRun ? "Would import" : "Imported"} ${countOf(links, "link")} into ${scope}`;
  const from = resumedAfter === 0 ? "" : `, going on after line ${formatCount(resumedAfter)}`;
  const counts = `${formatCount(inserted)} inserted, ${formatCount(replaced)} replaced, ${formatCount(kept)} kept`;
  return `${did}${from}, in ${seconds.toFixed(1)} s: ${counts}, ${countOf(left, "line")} refused`;
};
