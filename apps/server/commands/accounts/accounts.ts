import { Accounts, guildOf } from "@accountlink/core";
import { hasAccepted, type MemberChange, type MemberRole, Members } from "@accountlink/core/accounts";
import type { BadRequest, Conflict } from "@accountlink/core/errors";
import { KeyStore, type Tier, tiers } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { DashboardMembers } from "@accountlink/http-api";
import { Clock, Effect, Option } from "effect";
import { Argument, Command, Flag } from "effect/cli";
import { fieldFlag } from "../../cli/field_flags.ts";
import { chatIdFlag } from "../../cli/flags.ts";
import { answer, tableOr } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, describe, group, managed, operatorOrigin } from "../command.ts";
import { keyJson, keyTable } from "../keys/key_output.ts";

const accountArgument = Argument.String("account").pipe(Argument.withDescription("Name of the account"));

const noSuchAccount = (name: string, doing: string) =>
  new CommandFailed({ problem: `Cannot ${doing} account "${name}": there is no such account` });

const answerChange = Effect.fnUntraced(function* (
  name: string,
  doing: string,
  changed: Option.Option<boolean>,
  result: { readonly tier: Tier } | { readonly status: "active" | "suspended" },
) {
  if (Option.isNone(changed)) return yield* noSuchAccount(name, doing);
  const is = changed.value ? "is" : "was already";
  yield* answerWithLocation(
    { name, ...result, changed: changed.value },
    `Account "${name}" ${is} ${Object.values(result).join()}`,
  );
});

const tierFlags = {
  name: accountArgument,
  tier: Argument.Literals("tier", tiers).pipe(Argument.withDescription("The new tier")),
};

const setTierCommand = managed("set-tier", tierFlags, function* ({ name, tier }) {
  const changed = yield* (yield* Accounts).setTier(name, tier, operatorOrigin());
  yield* answerChange(name, "set the tier of", changed, { tier });
}).pipe(
  describe("Set the tier of an account and of its normal keys. Partner and staff keys keep theirs.", {
    "accountlink accounts set-tier acme premium": "Premium from now on",
  }),
);

const suspendAccountCommand = managed("suspend", { name: accountArgument }, function* ({ name }) {
  const changed = yield* (yield* Accounts).suspend(name, operatorOrigin());
  yield* answerChange(name, "suspend", changed, { status: "suspended" });
}).pipe(
  describe(
    "Suspend an account: running servers refuse all of its keys within a second, and nobody can use the dashboard as it.",
    { "accountlink accounts suspend acme": "Refuse all keys of the account" },
  ),
);

const restoreAccountCommand = managed("restore", { name: accountArgument }, function* ({ name }) {
  const changed = yield* (yield* Accounts).restore(name, operatorOrigin());
  yield* answerChange(name, "restore", changed, { status: "active" });
}).pipe(describe("Restore a suspended account. Its keys are what they were before."));

const roleFlag = fieldFlag("role", DashboardMembers.addMember.parameters.role).pipe(
  Flag.withDescription("owner: everything; admin: all but members; moderator: links and alts"),
);

const scopesFlag = Flag.String("scopes").pipe(
  Flag.withDescription(
    "For a member of some communities alone: their guild IDs, global or public IDs, comma-separated; all for all",
  ),
  Flag.optional,
);

/** Finds the scopes that the flag names; null for all, undefined if it was left out. */
const scopesOf = Effect.fnUntraced(function* (
  account: string,
  flag: Option.Option<string>,
  role: MemberRole,
) {
  if (Option.isNone(flag)) return undefined;
  if (flag.value === "all") return null;
  if (role === "owner") {
    return yield* new CommandFailed({ problem: "--scopes is for admins and moderators: an owner is of all" });
  }
  const known = yield* (yield* KeyStore).listScopes(account);
  return yield* Effect.forEach(flag.value.split(","), (name) => {
    const found = known.find(({ scope }) => [scope.pid, guildOf(scope) ?? "global"].includes(name.trim()));
    return found === undefined
      ? new CommandFailed({
          problem: `--scopes names "${name.trim()}", which is no community of "${account}"`,
        })
      : Effect.succeed(found.scope.pid);
  });
});

const requireAccount = Effect.fnUntraced(function* (name: string, doing: string) {
  const found = yield* (yield* KeyStore).findAccount(name);
  if (Option.isNone(found)) return yield* noSuchAccount(name, doing);
  return found.value;
});

const change = Effect.fnUntraced(function* (name: string, member: MemberChange, doing: string, done: string) {
  const before = yield* requireAccount(name, `${doing} of`);
  const refused = (error: BadRequest | Conflict) =>
    new CommandFailed({ problem: `Cannot ${doing} of account "${name}": ${reasonOf(error)}` });
  const changed: boolean = yield* (yield* Members)
    .change(name, member, operatorOrigin())
    .pipe(Effect.catchTag(["BadRequest", "Conflict"], refused));
  const { type: _, ...json } = member;
  const { operator } = yield* requireAccount(name, `${doing} of`);
  const ended =
    before.operator && !operator
      ? `Keys of "${name}" can now name only guilds that its team manages, and its plan limits its links.\n`
      : "";
  yield* answerWithLocation(
    { name, ...json, changed },
    `${ended}Chat user ${member.chatId} ${changed ? "is now" : "was already"} ${done} account "${name}"`,
  );
});

const reasons: Readonly<Record<string, string>> = {
  member_exists: "the chat user is a member or invited already, expected set-role, or remove first",
  member_limit: "it has 25 members",
  last_owner: "the chat user is its last owner, expected another owner first",
};

const reasonOf = (error: BadRequest | Conflict): string =>
  error._tag === "Conflict"
    ? (reasons[error.details.reason] ?? error.details.reason)
    : "the chat user is not a member";

const listMembersCommand = managed("list", { name: accountArgument }, function* ({ name }) {
  yield* requireAccount(name, "list the members of");
  const members = (yield* (yield* Members).list(name)).map((member) => ({
    chatId: member.chatId,
    role: member.role,
    scopes: member.scopes,
    since: formatTimestamp(member.since),
    accepted: hasAccepted(member),
  }));
  const rows = members.map(({ chatId, role, scopes, since, accepted }) => [
    chatId,
    role,
    scopes?.join(", ") ?? "all",
    since,
    accepted ? "yes" : "no",
  ]);
  const none = `Account "${name}" has no members`;
  yield* answer({ members }, tableOr(none, ["CHAT USER", "ROLE", "SCOPES", "SINCE", "ACCEPTED"], rows));
}).pipe(describe("List the members of an account, oldest first."));

const memberFlags = { name: accountArgument, chatId: chatIdFlag };

const placeFlags = { ...memberFlags, role: roleFlag, scopes: scopesFlag };

const addMemberCommand = managed("add", placeFlags, function* ({ name, chatId, role, scopes: flag }) {
  const scopes = yield* scopesOf(name, flag, role);
  yield* change(
    name,
    { type: "add", chatId, role, ...(scopes !== undefined && { scopes }) },
    "add a member",
    `${role} of`,
  );
}).pipe(
  describe("Let a chat user use the dashboard as an account.", {
    "accountlink accounts members add acme --chat-id 100001 --role owner":
      "An owner for an account that an operator created",
  }),
);

const setRoleCommand = managed("set-role", placeFlags, function* ({ name, chatId, role, scopes: flag }) {
  const scopes = yield* scopesOf(name, flag, role);
  yield* change(name, { type: "set_role", chatId, role, scopes }, "set the role of a member", `${role} of`);
}).pipe(describe("Set the role of a member, and of which communities."));

const removeMemberCommand = managed("remove", memberFlags, function* ({ name, chatId }) {
  yield* change(name, { type: "remove", chatId }, "remove a member", "no member of");
}).pipe(describe("Remove a member, whose sign-ins to the account end."));

const membersCommand = Command.make("members").pipe(
  describe("Manage who uses the dashboard as an account."),
  Command.withSubcommands([listMembersCommand, addMemberCommand, setRoleCommand, removeMemberCommand]),
);

const ownersOf = Effect.fnUntraced(function* (account: string) {
  const members = yield* (yield* Members).list(account);
  return members
    .filter((member) => member.role === "owner" && hasAccepted(member))
    .map(({ chatId }) => chatId);
});

const textOf = (owners: ReadonlyArray<string>): string => (owners.length === 0 ? "none" : owners.join(", "));

const listAccountsCommand = managed("list", {}, function* () {
  const accounts = yield* forEachLimited(yield* (yield* KeyStore).listAccounts(), 8, (account) =>
    Effect.map(ownersOf(account.name), (owners) => ({ ...account, owners })),
  );
  const rows = accounts.map(({ name, owners, tier, status }) => [name, textOf(owners), tier, status]);
  const headings = ["ACCOUNT", "OWNERS", "TIER", "STATUS"];
  yield* answer({ accounts }, tableOr("There are no accounts", headings, rows));
}).pipe(describe("List accounts by name."));

const showAccountCommand = managed("show", { name: accountArgument }, function* ({ name }) {
  const account = yield* requireAccount(name, "show");
  const now = yield* Clock.currentTimeMillis;
  const keys = yield* (yield* KeyStore).listKeys(name, now);
  const { tier, status } = account;
  const owners = yield* ownersOf(name);
  yield* answer(
    { ...account, owners, keys: keys.map((key) => keyJson(key, now)) },
    `Account "${name}", owners ${textOf(owners)}: ${tier}, ${status}\n\n${keyTable(keys, now, "It has no keys")}`,
  );
}).pipe(describe("Show an account with its keys."));

export const accountsCommand = group(
  "accounts",
  "Manage accounts, also next to a running server, which applies every change within a second.",
  [
    listAccountsCommand,
    showAccountCommand,
    setTierCommand,
    suspendAccountCommand,
    restoreAccountCommand,
    membersCommand,
  ],
);
