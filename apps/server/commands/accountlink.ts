import { Command } from "effect/cli";
import { accountsCommand } from "./accounts/accounts.ts";
import { auditCommand } from "./audit.ts";
import { chatCommand } from "./chat/chat.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { keysCommand } from "./keys/keys.ts";
import { linksCommand } from "./links/links.ts";
import { listenCommand } from "./listen.ts";
import { migrateCommand } from "./migrate.ts";
import { rolesCommand } from "./roles/roles.ts";
import { secretsCommand } from "./secrets.ts";
import { serveCommand } from "./serve/serve.ts";
import { usersCommand } from "./users/users.ts";
import { webhooksCommand } from "./webhooks/webhooks.ts";

export const accountlink = Command.make("accountlink").pipe(
  Command.withDescription("Links between chat-platform accounts and game-platform accounts"),
  Command.withSubcommands([
    serveCommand,
    migrateCommand,
    accountsCommand,
    keysCommand,
    linksCommand,
    usersCommand,
    webhooksCommand,
    listenCommand,
    rolesCommand,
    chatCommand,
    secretsCommand,
    auditCommand,
    doctorCommand,
  ]),
);
