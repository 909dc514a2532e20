import { Accounts, type StoreUnavailable } from "@accountlink/core";
import { Effect, Option } from "effect";
import { Argument, Command } from "effect/cli";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";

export const accountArgument = Argument.String("account").pipe(
  Argument.withDescription("Name of the account"),
);

export const noSuchAccount = (name: string, doing: string) =>
  new CommandFailed({ problem: `Cannot ${doing} account "${name}": there is no such account` });

type Change = Effect.Effect<Option.Option<boolean>, StoreUnavailable>;

const change = Effect.fnUntraced(
  function* (
    name: string,
    doing: string,
    run: (accounts: Accounts["Service"]) => Change,
    result: { readonly json: object; readonly text: string },
  ) {
    const changed = yield* run(yield* Accounts);
    if (Option.isNone(changed)) return yield* noSuchAccount(name, doing);
    yield* answerWithLocation(
      { name, ...result.json, changed: changed.value },
      (location) => `Account "${name}" ${changed.value ? "is" : "was already"} ${result.text} in ${location}`,
    );
  },
  (effect) => Effect.provide(effect, managementLayer("refuse")),
);

const tierArgument = Argument.Literals("tier", ["free", "premium"]).pipe(
  Argument.withDescription("The new tier"),
);

export const setTierCommand = Command.make(
  "set-tier",
  { name: accountArgument, tier: tierArgument },
  ({ name, tier }) =>
    change(name, "set the tier of", (accounts) => accounts.setTier(name, tier, operatorOrigin()), {
      json: { tier },
      text: tier,
    }),
).pipe(
  Command.withDescription(
    "Set the tier of an account and of its normal keys. Partner and staff keys keep theirs.",
  ),
  Command.withShortDescription("Set the tier of an account and of its normal keys"),
  Command.withExamples([
    { command: "accountlink accounts set-tier acme premium", description: "Premium from now on" },
  ]),
);

export const suspendAccountCommand = Command.make("suspend", { name: accountArgument }, ({ name }) =>
  change(name, "suspend", (accounts) => accounts.suspend(name, operatorOrigin()), {
    json: { status: "suspended" },
    text: "suspended",
  }),
).pipe(
  Command.withDescription(
    "Suspend an account: running servers refuse all of its keys within a second, and nobody can use the dashboard as it.",
  ),
  Command.withShortDescription("Refuse all keys of an account, until it is restored"),
  Command.withExamples([
    { command: "accountlink accounts suspend acme", description: "Refuse all keys of the account" },
  ]),
);

export const restoreAccountCommand = Command.make("restore", { name: accountArgument }, ({ name }) =>
  change(name, "restore", (accounts) => accounts.restore(name, operatorOrigin()), {
    json: { status: "active" },
    text: "active",
  }),
).pipe(Command.withDescription("Restore a suspended account. Its keys are what they were before."));
