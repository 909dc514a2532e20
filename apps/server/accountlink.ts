/**
 * The command `accountlink`.
 */
import { Command } from "effect/cli";
import { auditCommand } from "./commands/audit.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { keysCommand } from "./commands/keys.ts";
import { linksCommand } from "./commands/links.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { secretsCommand } from "./commands/secrets.ts";
import { serveCommand } from "./commands/serve.ts";
import { usersCommand } from "./commands/users.ts";

export const accountlink = Command.make("accountlink").pipe(
  Command.withDescription("Links between chat-platform accounts and game-platform accounts"),
  Command.withSubcommands([
    serveCommand,
    migrateCommand,
    keysCommand,
    linksCommand,
    usersCommand,
    secretsCommand,
    auditCommand,
    doctorCommand,
  ]),
);
