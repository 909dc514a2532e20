/** Links, blocks, and the progress of imports. */
import type { Row } from "@accountlink/core";
import { blocks } from "../stores/blocks.ts";
import { progress } from "../stores/import_batch.ts";
import { links } from "../stores/links.ts";
import { epochOf, isOfEpoch, type Places } from "./places.ts";
import { type Unit, unit } from "./unit.ts";

const withEpoch = ({ pid }: Row, places: Places) => ({ epoch: epochOf(places, String(pid)) });

export const linkUnits: ReadonlyArray<Unit> = [
  unit({
    records: links,
    relation: "links",
    columns: {
      pid: "pid",
      chat_id: "link.chatId",
      game_id: "link.gameId",
      link_version: "link.linkVersion",
      linked_at: "link.linkedAt",
      last_verified_at: "link.lastVerifiedAt",
      proof: "link.proof",
      proven_at: ["optional", "link.provenAt"],
      removed_linked_at: ["optional", "removedLinkedAt"],
    },
    fields: withEpoch,
    isKept: isOfEpoch,
  }),
  unit({
    records: blocks,
    relation: "blocks",
    columns: {
      pid: "pid",
      user_hash: "block.hash",
      chat_id: "block.chatId",
      game_id: "block.gameId",
      reason: "block.reason",
      blocked_at: "block.at",
      member: "block.member",
    },
    fields: withEpoch,
    isKept: ({ pid, epoch }, { scopes }) => {
      const scope = scopes.get(pid);
      return (scope?.blockEpoch ?? scope?.epoch) === epoch;
    },
  }),
  unit({
    records: progress,
    relation: "import_progress",
    columns: { source: "source", position: "position" },
    fields: ({ saved_at: savedAt }) => ({ savedAt: savedAt ?? 0 }),
    row: ({ savedAt }) => ({ saved_at: savedAt === 0 ? null : savedAt }),
  }),
];
