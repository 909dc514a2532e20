import { createReadStream } from "node:fs";
import { AuditLog } from "@accountlink/core";
import { type AuditEntry, type AuditFilter, signedBy } from "@accountlink/core/audit";
import { reasonOf } from "@accountlink/core/errors";
import { formatTimestamp } from "@accountlink/core/timestamp";
import * as NodeStream from "@effect/platform-node/NodeStream";
import { Effect, Option, Predicate, Stdio, Stream } from "effect";
import { Argument, Flag } from "effect/cli";
import { accountFlag } from "../cli/flags.ts";
import { answer } from "../cli/output.ts";
import { CommandFailed } from "../cli/report.ts";
import { describe, single } from "./command.ts";
import { managementLayer } from "./management_layer.ts";

const flags = {
  requestId: Argument.String("request").pipe(
    Argument.withDescription("The ID of a request, as an answer, a page or a message has it"),
  ),
  files: Argument.String("file").pipe(
    Argument.withDescription("Logs of servers (default: standard input)"),
    Argument.variadic(),
  ),
  account: accountFlag.pipe(
    Flag.withDescription("Account whose audit entries of these requests are printed, too"),
    Flag.optional,
  ),
};

export const traceCommand = single("trace", flags, function* ({ requestId, files, account }) {
  const all = (yield* Effect.forEach(files.length === 0 ? ["-"] : files, linesOf)).flat();
  const { lines, requests } = linesAbout(requestId, all);
  const times = lines.map(({ at }) => at);
  const entries =
    Option.isNone(account) || lines.length === 0
      ? []
      : yield* entriesOf(account.value, requests, Math.min(...times), Math.max(...times)).pipe(
          Effect.provide(managementLayer("refuse")),
        );
  if (lines.length === 0) {
    return yield* new CommandFailed({
      problem: `Cannot trace "${requestId}": no line of the log has it, expected the logs of all servers at its time`,
    });
  }
  const found = lines.map(({ line }) => line);
  const text = [
    ...found.map((line) => JSON.stringify(line)),
    ...entries.map((entry) => `audit ${JSON.stringify(entry)}`),
  ];
  yield* answer({ lines: found, entries }, text.join("\n"));
}).pipe(
  describe(
    "Print every line of a request from the logs of servers, and those of the verification that it belongs to, in order of time.",
    {
      "journalctl -u accountlink -o cat --since today | accountlink trace req_01M7X9Q2V0H7B7P1C9W3K5T8RZ":
        "From the journal of systemd",
      "accountlink trace req_01M7X9Q2V0H7B7P1C9W3K5T8RZ node1.log node2.log --account acme":
        "From files, with the audit entries of these requests",
    },
  ),
);

interface LogLine {
  readonly line: object;
  readonly at: number;
  readonly requestId: string | null;
  readonly session: string | null;
}

/** The lines of a log that are of a request. A program that collects logs may write something before the JSON. */
const linesOf = Effect.fnUntraced(function* (file: string) {
  const unreadable = (cause: unknown) =>
    new CommandFailed({ problem: `Cannot read "${file}": ${reasonOf(cause)}` });
  const bytes =
    file === "-"
      ? Stream.mapError((yield* Stdio.Stdio).stdin, unreadable)
      : NodeStream.fromReadable({ evaluate: () => createReadStream(file), onError: unreadable });
  return yield* bytes.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.map(readLine),
    Stream.filter((line) => line !== null),
    Stream.runCollect,
  );
});

const readLine = (text: string): LogLine | null => {
  if (!text.includes('"requestId"')) return null;
  try {
    const line: unknown = JSON.parse(text.slice(text.indexOf("{")));
    if (!Predicate.hasProperty(line, "annotations") || !Predicate.hasProperty(line, "timestamp")) return null;
    const { annotations, timestamp } = line;
    const textOf = (name: string) =>
      Predicate.hasProperty(annotations, name) && typeof annotations[name] === "string"
        ? annotations[name]
        : null;
    return {
      line,
      at: Date.parse(String(timestamp)),
      requestId: textOf("requestId"),
      session: textOf("session"),
    };
  } catch {
    return null;
  }
};

const linesAbout = (requestId: string, all: ReadonlyArray<LogLine>) => {
  const sessions = new Set(
    all.flatMap((line) => (line.requestId === requestId && line.session !== null ? [line.session] : [])),
  );
  const requests = new Set([requestId]);
  for (const line of all) {
    if (line.session !== null && sessions.has(line.session) && line.requestId !== null)
      requests.add(line.requestId);
  }
  const lines = all
    .filter((line) => line.requestId !== null && requests.has(line.requestId))
    .toSorted((one, other) => one.at - other.at);
  return { lines, requests };
};

/** How far the clock of the database may be off. */
const aroundMs = 60_000;

const entriesOf = Effect.fnUntraced(function* (
  account: string,
  requests: ReadonlySet<string>,
  first: number,
  last: number,
) {
  const log = yield* AuditLog;
  const during = { from: first - aroundMs, before: last + aroundMs };
  const filter: AuditFilter = { action: null, keyId: null, during };
  const found: Array<AuditEntry> = [];
  let before: number | null = null;
  do {
    const page: Effect.Success<ReturnType<typeof log.list>> = yield* log.list(account, before, 1_000, filter);
    found.push(...page.entries.filter((entry) => entry.requestId !== null && requests.has(entry.requestId)));
    before = page.next;
  } while (before !== null);
  return found
    .toReversed()
    .map(({ at, ...entry }) => ({ at: formatTimestamp(at), ...entry, ...signedBy(entry) }));
});
