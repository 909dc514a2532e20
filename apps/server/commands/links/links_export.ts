import type { Pid } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import { formatOfName, type LinkFormatName, linkFileOf } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { allLinks } from "@accountlink/core/links";
import { Effect, Option, Stdio, Stream } from "effect";
import { Command, Flag } from "effect/cli";
import {
  accountFlag,
  checkScope,
  formatFlag,
  refuse,
  scopeFlags,
  scopeText,
  switchFlag,
  targetOf,
} from "../../cli/flags.ts";
import { answer, countOf, Json, jsonWanted } from "../../cli/output.ts";
import { progressBar, type ShowProgress } from "../../cli/progress.ts";
import { CommandFailed } from "../../cli/report.ts";
import { writeAtomically } from "../../files/atomic_write.ts";
import { describe, managed } from "../command.ts";

const flags = {
  account: accountFlag.pipe(Flag.withDescription("Account that owns the links")),
  ...scopeFlags,
  format: formatFlag,
  output: Flag.String("output").pipe(
    Flag.withAlias("o"),
    Flag.withMetavar("file"),
    Flag.withDescription("The file, which is written atomically (default: standard output)"),
    Flag.withDefault("-"),
  ),
  force: switchFlag("force", "Replace an existing file"),
};

type Choice = Command.Command.Config.Infer<typeof flags>;

const isStandardOutput = ({ output }: Choice): boolean => output === "-";

export const exportLinksCommand = managed("export", flags, function* (choice) {
  const format = yield* formatOf(choice);
  const { pid } = yield* findScope(choice);
  if (isStandardOutput(choice)) {
    return yield* Stream.run(linkFileOf(allLinks(pid), format), (yield* Stdio.Stdio).stdout());
  }
  const { output: file } = choice;
  const links = yield* Effect.flatMap(progressBar(), (show) =>
    exportToFile(choice, file, pid, format, show),
  ).pipe(Effect.scoped);
  yield* answer({ file, format, links }, `Exported ${countOf(links, "link")} to "${file}"`);
}).pipe(
  Command.validate((choice: Choice) => checkScope(choice)),
  Command.validate((choice: Choice) =>
    Effect.flatMap(jsonWanted, (wanted) =>
      wanted && isStandardOutput(choice) && Option.contains(choice.format, "csv")
        ? refuse("--json prints no CSV, expected --output or --format ndjson")
        : Effect.void,
    ),
  ),
  describe(
    [
      "Export the links of a scope, in the order of their chat IDs, as a file that links import takes.",
      "The format is that of the ending of --output, else CSV, or NDJSON with --json. Links that " +
        "change during the export may be exported in their old or new state.",
    ],
    {
      "accountlink links export --account acme --output links.csv": "To a file",
      "accountlink links export --account acme --guild-id 700000000000000001 | gzip > links.csv.gz":
        "The links of one guild, to a pipe",
    },
  ),
);

const formatOf = Effect.fnUntraced(function* (choice: Choice) {
  const fallback: LinkFormatName = (yield* Json) && isStandardOutput(choice) ? "ndjson" : "csv";
  return Option.getOrElse(
    Option.orElse(choice.format, () => formatOfName(choice.output)),
    () => fallback,
  );
});

const exportToFile = Effect.fnUntraced(function* (
  { force }: Choice,
  file: string,
  pid: Pid,
  format: LinkFormatName,
  show: ShowProgress,
) {
  let exported = 0;
  const links = allLinks(pid).pipe(
    Stream.mapArrayEffect((page) => {
      exported += page.length;
      return Effect.as(show({ doing: "exporting", done: exported, total: null, unit: "links" }), page);
    }),
  );
  yield* writeAtomically(file, linkFileOf(links, format), force ? "replace" : "refuse").pipe(
    Effect.catchTags({
      FileExists: () =>
        new CommandFailed({
          problem: `Cannot write "${file}": it exists, expected a new file (--force replaces it)`,
        }),
      PlatformError: (cause) => new CommandFailed({ problem: `Cannot write "${file}": ${reasonOf(cause)}` }),
    }),
  );
  return exported;
});

const findScope = Effect.fnUntraced(function* (choice: Choice) {
  const target = targetOf(choice);
  const found = yield* (yield* KeyStore).findScope(choice.account, target);
  return yield* Effect.mapError(
    Effect.fromOption(found),
    () =>
      new CommandFailed({
        problem:
          `Cannot export links: account "${choice.account}" has no ${scopeText(target)} ` +
          `scope, expected one that a key or an import made`,
      }),
  );
});
