import { ApiKeys, type ChatId, type Conflict, type InvalidParameter } from "@accountlink/core";
import { type IssuedKey, type NewAccount, tiers } from "@accountlink/core/keys";
import { keyKinds } from "@accountlink/core/limits";
import { Clock, Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import {
  accountFlag,
  accountOf,
  checkScope,
  nameFlag,
  ownerFlag,
  problemsText,
  scopeFlags,
  scopeText,
  targetOf,
  timeFlag,
} from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerSecret, describe, managed, operatorOrigin } from "../command.ts";
import { accessFlag, checkEnd, checkLimits, limitFlags, limitsOf, listFlags } from "./key_flags.ts";
import { keyJson } from "./key_output.ts";

const flags = {
  account: accountFlag.pipe(Flag.withDescription("Account that owns the key, created if it does not exist")),
  owner: ownerFlag.pipe(
    Flag.withDescription(
      "Chat user who can sign in to the dashboard as the account, if it is created (default: nobody can)",
    ),
    Flag.optional,
  ),
  tier: Flag.Literals("tier", tiers).pipe(
    Flag.withDescription(
      "Tier of the key, and of the account if it is created (default: the account's, or free)",
    ),
    Flag.optional,
  ),
  name: nameFlag("name").pipe(Flag.withDescription("Description of the key"), Flag.withDefault("")),
  ...scopeFlags,
  kind: Flag.Literals("kind", keyKinds).pipe(
    Flag.withDescription(
      "Normal keys count towards the number that the account's plan allows (default: normal)",
    ),
    Flag.withDefault("normal"),
  ),
  access: accessFlag.pipe(Flag.withDefault("full")),
  expires: timeFlag("expires").pipe(
    Flag.withDescription("When the key ends, such as 2030-01-31 or 2030-01-31T08:00:00Z (default: never)"),
    Flag.optional,
  ),
  ...limitFlags,
  ...listFlags,
};

type Choice = Command.Command.Config.Infer<typeof flags>;

export const createKeyCommand = managed(
  "create",
  flags,
  function* (choice) {
    const now = yield* Clock.currentTimeMillis;
    yield* checkEnd(choice.expires, now, "create the key");
    const tier = Option.getOrElse(choice.tier, () => "free" as const);
    const account = yield* accountOf(choice.account, tier);
    const issued = yield* create(choice, yield* withOwner(account, choice.owner));
    const json = { ...keyJson(issued.key, now), token: issued.token };
    yield* answerSecret(json, issued.token, introduction(issued));
  },
  "make",
).pipe(
  Command.validate((choice: Choice) => Effect.andThen(checkLimits(choice), checkScope(choice))),
  describe(
    "Create an API key and print it once: only a hash of it is stored. A running server accepts it at once.",
    {
      "accountlink keys create --account acme": "A key for the account's global scope",
      "accountlink keys create --account acme --owner 100001":
        "A new account, whose owner can sign in to the dashboard",
      "accountlink keys create --account acme --guild-id 700000000000000001 --tier premium":
        "A Premium key for the links of one guild",
      "accountlink keys create --account acme --kind partner --per-window 50 --daily 0 --allow-ip 10.0.0.0/8":
        "50 requests per window, no daily limit, from one network",
    },
  ),
);

const withOwner = (account: NewAccount, owner: Option.Option<ChatId>) => {
  if (Option.isNone(owner) || account.chatId === owner.value) return Effect.succeed(account);
  if (!("status" in account)) return Effect.succeed({ ...account, chatId: owner.value });
  const problem =
    `Cannot create the key: account "${account.name}" exists, and only a new one takes ` +
    `an --owner; "accounts members add" gives it one`;
  return Effect.fail(new CommandFailed({ problem }));
};

const create = Effect.fnUntraced(function* (choice: Choice, account: NewAccount) {
  const { name, kind, access, expires, allowIps, denyIps, redirectOrigins } = choice;
  const apiKeys = yield* ApiKeys;
  return yield* apiKeys
    .create(
      {
        account,
        target: targetOf(choice),
        tier: Option.getOrElse(choice.tier, () => account.tier),
        name,
        kind,
        access,
        expiresAt: Option.getOrNull(expires),
        limits: limitsOf(choice),
        allowIps,
        denyIps,
        redirectOrigins,
      },
      operatorOrigin(),
    )
    .pipe(Effect.catchTags({ Conflict: refused, InvalidParameter: refused }));
});

const refused = (error: Conflict | InvalidParameter) =>
  new CommandFailed({
    problem: `Cannot create the key: ${error._tag === "Conflict" ? conflictText(error) : problemsText(error)}`,
  });

const conflictText = ({ reason }: Conflict): string =>
  reason === "key_limit"
    ? "the account has as many keys as its plan allows"
    : "the account was erased meanwhile";

const introduction = ({ key }: IssuedKey): string =>
  `This is the key, shown this once: ${key.tier}, ${scopeText(key.scope)} scope of account "${key.scope.account}"`;
