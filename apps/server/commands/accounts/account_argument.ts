import { Argument } from "effect/cli";
import { CommandFailed } from "../../cli/report.ts";

export const accountArgument = Argument.String("account").pipe(
  Argument.withDescription("Name of the account"),
);

export const noSuchAccount = (name: string, doing: string) =>
  new CommandFailed({ problem: `Cannot ${doing} account "${name}": there is no such account` });
