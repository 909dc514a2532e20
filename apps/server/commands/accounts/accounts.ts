import { Command } from "effect/cli";
import { Json } from "../../cli/output.ts";
import { listAccountsCommand } from "./accounts_list.ts";
import { membersCommand } from "./accounts_members.ts";
import { showAccountCommand } from "./accounts_show.ts";
import { restoreAccountCommand, setTierCommand, suspendAccountCommand } from "./accounts_update.ts";

export const accountsCommand = Command.make("accounts").pipe(
  Command.withDescription(
    "Manage accounts, also next to a running server, which applies every change within a second.",
  ),
  Command.withShortDescription("Manage accounts"),
  Command.withSubcommands([
    listAccountsCommand,
    showAccountCommand,
    setTierCommand,
    suspendAccountCommand,
    restoreAccountCommand,
    membersCommand,
  ]),
  Command.withGlobalFlags([Json]),
);
