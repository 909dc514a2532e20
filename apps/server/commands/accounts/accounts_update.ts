import { Accounts } from "@accountlink/core";
import type { Tier } from "@accountlink/core/keys";
import { Effect, Option } from "effect";
import { Argument } from "effect/cli";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, describe, managed, operatorOrigin } from "../command.ts";

export const accountArgument = Argument.String("account").pipe(
  Argument.withDescription("Name of the account"),
);

export const noSuchAccount = (name: string, doing: string) =>
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

const tierArgument = Argument.Literals("tier", ["free", "premium"]).pipe(
  Argument.withDescription("The new tier"),
);

const tierFlags = { name: accountArgument, tier: tierArgument };

export const setTierCommand = managed("set-tier", tierFlags, function* ({ name, tier }) {
  const changed = yield* (yield* Accounts).setTier(name, tier, operatorOrigin());
  yield* answerChange(name, "set the tier of", changed, { tier });
}).pipe(
  describe("Set the tier of an account and of its normal keys. Partner and staff keys keep theirs.", {
    "accountlink accounts set-tier acme premium": "Premium from now on",
  }),
);

export const suspendAccountCommand = managed("suspend", { name: accountArgument }, function* ({ name }) {
  const changed = yield* (yield* Accounts).suspend(name, operatorOrigin());
  yield* answerChange(name, "suspend", changed, { status: "suspended" });
}).pipe(
  describe(
    "Suspend an account: running servers refuse all of its keys within a second, and nobody can use the dashboard as it.",
    { "accountlink accounts suspend acme": "Refuse all keys of the account" },
  ),
);

export const restoreAccountCommand = managed("restore", { name: accountArgument }, function* ({ name }) {
  const changed = yield* (yield* Accounts).restore(name, operatorOrigin());
  yield* answerChange(name, "restore", changed, { status: "active" });
}).pipe(describe("Restore a suspended account. Its keys are what they were before."));
