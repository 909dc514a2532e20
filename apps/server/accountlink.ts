/**
 * The command `accountlink`.
 */
import { Command } from "effect/cli";
import { accountsCommand } from "./commands/accounts/accounts.ts";
import { auditCommand } from "./commands/audit/audit.ts";
import { keysCommand } from "./commands/keys/keys.ts";
import { linksCommand } from "./commands/links/links.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { secretsCommand } from "./commands/secrets/secrets.ts";
import { serveCommand } from "./commands/serve.ts";
import { usersCommand } from "./commands/users/users.ts";
import { doctorCommand } from "./doctor/doctor.ts";

export const accountlink = Command.make("accountlink").pipe(
  Command.withDescription("Links between chat-platform accounts and game-platform accounts"),
  Command.withSubcommands([
    serveCommand,
    migrateCommand,
    accountsCommand,
    keysCommand,
    linksCommand,
    usersCommand,
    secretsCommand,
    auditCommand,
    doctorCommand,
  ]),
);
