import { AuditLog } from "@accountlink/core";
import { type AuditEntry, signedBy } from "@accountlink/core/audit";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Option } from "effect";
import { Flag } from "effect/cli";
import { accountFlag, countFlag, limitFlag } from "../cli/flags.ts";
import { answer, tableOr } from "../cli/output.ts";
import { describe, group, managed } from "./command.ts";

const flags = {
  account: accountFlag.pipe(Flag.withDescription("Account whose log is read")),
  limit: limitFlag("Entries"),
  before: countFlag("before").pipe(
    Flag.withMetavar("sequence"),
    Flag.withDescription("Only entries older than the entry with this number"),
    Flag.optional,
  ),
};

const listAuditCommand = managed("list", flags, function* ({ account, limit, before }) {
  const { entries, next } = yield* (yield* AuditLog).list(account, Option.getOrNull(before), limit);
  yield* answer({ entries: entries.map(entryJson), next }, entriesText(entries, next));
}).pipe(
  describe("List who changed what in an account, newest first, without secrets and IP addresses.", {
    "accountlink audit list --account acme": "The 50 newest entries",
    "accountlink audit list --account acme --before 4711 --json": "The 50 entries before entry 4711",
  }),
);

export const auditCommand = group("audit", "Read the audit log, also next to a running server.", [
  listAuditCommand,
]);

const entryJson = ({ at, ...entry }: AuditEntry) => ({
  ...entry,
  ...signedBy(entry),
  at: formatTimestamp(at),
});

const entriesText = (entries: ReadonlyArray<AuditEntry>, next: number | null): string => {
  const headings = ["ENTRY", "TIME", "WHO", "SCOPE", "ACTION", "DETAILS"];
  const table = tableOr("There are no entries", headings, entries.map(entryRow));
  return next === null ? table : `${table}\n\nThere are older ones: --before ${next}`;
};

const entryRow = ({ sequence, at, actor, pid, action, details }: AuditEntry): ReadonlyArray<string> => [
  String(sequence),
  formatTimestamp(at),
  `${actor.type} ${actor.id}${actor.type === "account" && actor.member !== null ? ` (${actor.member})` : ""}`,
  pid ?? "account",
  action,
  Object.entries(details)
    .map(([name, value]) => `${name}=${value ?? "none"}`)
    .join(" "),
];
