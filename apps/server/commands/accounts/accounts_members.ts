import { hasAccepted, type MemberChange, Members, memberRoles } from "@accountlink/core/accounts";
import type { BadRequest, Conflict } from "@accountlink/core/errors";
import { KeyStore } from "@accountlink/core/keys";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { chatIdFlag } from "../../cli/flags.ts";
import { answer, formatTable } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, describe, managed, operatorOrigin } from "../command.ts";
import { accountArgument, noSuchAccount } from "./accounts_update.ts";

const roleFlag = Flag.Literals("role", memberRoles).pipe(
  Flag.withDescription("owner: everything; admin: all but members; moderator: links and alts"),
);

const requireAccount = Effect.fnUntraced(function* (name: string, doing: string) {
  const found = yield* (yield* KeyStore).findAccount(name);
  if (Option.isNone(found)) return yield* noSuchAccount(name, doing);
});

function* change(name: string, member: MemberChange, doing: string, done: string) {
  yield* requireAccount(name, `${doing} of`);
  const refused = (error: BadRequest | Conflict) =>
    new CommandFailed({ problem: `Cannot ${doing} of account "${name}": ${reasonOf(error)}` });
  const changed: boolean = yield* (yield* Members)
    .change(name, member, operatorOrigin())
    .pipe(Effect.catchTag(["BadRequest", "Conflict"], refused));
  const { type: _, ...json } = member;
  yield* answerWithLocation(
    { name, ...json, changed },
    `Chat user ${member.chatId} ${changed ? "is now" : "was already"} ${done} account "${name}"`,
  );
}

const reasons: Readonly<Record<string, string>> = {
  member_exists: "the chat user is a member already, expected set-role",
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
    since: formatTimestamp(member.since),
    accepted: hasAccepted(member),
  }));
  const rows = members.map(({ accepted, ...member }) => [...Object.values(member), accepted ? "yes" : "no"]);
  yield* answer(
    { members },
    rows.length === 0
      ? `Account "${name}" has no members`
      : formatTable(["CHAT USER", "ROLE", "SINCE", "ACCEPTED"], rows),
  );
}).pipe(describe("List the members of an account, oldest first."));

const memberFlags = { name: accountArgument, chatId: chatIdFlag };

const addMemberCommand = managed("add", { ...memberFlags, role: roleFlag }, ({ name, chatId, role }) =>
  change(name, { type: "add", chatId, role }, "add a member", `${role} of`),
).pipe(
  describe("Let a chat user use the dashboard as an account.", {
    "accountlink accounts members add acme --chat-id 100001 --role owner":
      "An owner for an account that an operator created",
  }),
);

const setRoleCommand = managed("set-role", { ...memberFlags, role: roleFlag }, ({ name, chatId, role }) =>
  change(name, { type: "set_role", chatId, role }, "set the role of a member", `${role} of`),
).pipe(describe("Set the role of a member."));

const removeMemberCommand = managed("remove", memberFlags, ({ name, chatId }) =>
  change(name, { type: "remove", chatId }, "remove a member", "no member of"),
).pipe(describe("Remove a member, whose sign-ins to the account end."));

export const membersCommand = Command.make("members").pipe(
  describe("Manage who uses the dashboard as an account."),
  Command.withSubcommands([listMembersCommand, addMemberCommand, setRoleCommand, removeMemberCommand]),
);
