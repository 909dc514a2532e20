/** All operations of the stores that random commands run. */
import { blockOperations } from "./block_operations.ts";
import { communityOperations } from "./community_operations.ts";
import { guildLogOperations } from "./guild_log_operations.ts";
import { keyOperations, usageOperations } from "./key_operations.ts";
import { historyOperations, importOperations, linkOperations, uploadOperations } from "./link_operations.ts";
import type { Operation } from "./operation.ts";
import {
  memberOperations,
  sightingOperations,
  suspectOperations,
  userOperations,
} from "./people_operations.ts";
import { roleHistoryOperations } from "./role_history_operations.ts";
import { roleOperations } from "./role_operations.ts";
import { verificationOperations } from "./verification_operations.ts";
import { webhookOperations } from "./worker_operations.ts";

export const storageOperations = {
  ...linkOperations,
  ...historyOperations,
  ...importOperations,
  ...uploadOperations,
  ...keyOperations,
  ...usageOperations,
  ...verificationOperations,
  ...memberOperations,
  ...sightingOperations,
  ...suspectOperations,
  ...blockOperations,
  ...userOperations,
  ...webhookOperations,
  ...communityOperations,
  ...roleOperations,
  ...roleHistoryOperations,
  ...guildLogOperations,
};

type Operations = typeof storageOperations;
type InputOf<O> = O extends Operation<infer Input> ? Input : never;

export type Command = {
  readonly [Op in keyof Operations]: { readonly op: Op } & InputOf<Operations[Op]>;
}[keyof Operations];
