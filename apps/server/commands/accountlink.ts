import { Command } from "effect/cli";
import { accountsCommand } from "./accounts/accounts.ts";
import { auditCommand } from "./audit.ts";
import { backupCommand, restoreCommand } from "./backups/backups.ts";
import { chatCommand } from "./chat/chat.ts";
import { describe, group } from "./command.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { keysCommand } from "./keys/keys.ts";
import { exportLinksCommand } from "./links/links_export.ts";
import { importLinksCommand } from "./links/links_import.ts";
import { listenCommand } from "./listen.ts";
import { migrateCommand } from "./migrate.ts";
import { moveCommand } from "./move.ts";
import { resumeCommand } from "./resume.ts";
import { rolesCommand } from "./roles/roles.ts";
import { secretsCommand } from "./secrets.ts";
import { serveCommand } from "./serve/serve.ts";
import { traceCommand } from "./trace.ts";
import { usersCommand } from "./users/users.ts";
import { webhooksCommand } from "./webhooks/webhooks.ts";

export const accountlink = Command.make("accountlink").pipe(
  describe("Links between chat-platform accounts and game-platform accounts"),
  Command.withSubcommands([
    serveCommand,
    migrateCommand,
    accountsCommand,
    keysCommand,
    group("links", "Import and export links, also next to a running server.", [
      importLinksCommand,
      exportLinksCommand,
    ]),
    usersCommand,
    webhooksCommand,
    listenCommand,
    rolesCommand,
    chatCommand,
    secretsCommand,
    auditCommand,
    traceCommand,
    backupCommand,
    restoreCommand,
    resumeCommand,
    moveCommand,
    doctorCommand,
  ]),
);
