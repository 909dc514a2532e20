/** Links, blocks, and what undoes imports. */
import type { Row } from "@accountlink/core";
import { blocks } from "../stores/blocks.ts";
import { progress } from "../stores/import_batch.ts";
import { linkImports, madeLinks } from "../stores/import_records.ts";
import { links } from "../stores/links.ts";
import { at, epochOf, isOfEpoch, type Places } from "./places.ts";
import { type Unit, unit } from "./unit.ts";

const withEpoch = ({ pid }: Row, _: unknown, places: Places) => ({ epoch: epochOf(places, String(pid)) });

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
  unit({
    records: linkImports,
    relation: "link_imports",
    columns: {
      id: "id",
      pid: "pid",
      name: "name",
      imported_at: "importedAt",
      inserted: "counts.inserted",
      replaced: "counts.replaced",
      unchanged: "counts.unchanged",
      kept: "counts.kept",
      entry: "entry",
    },
    fields: ({ id, pid, ends_at: endsAt, undo_entry: entry, removed, restored }, _, places) => ({
      endsAt,
      epoch: at(places.imports, String(id)).epoch,
      account: at(places.scopes, String(pid)).account,
      undone: entry === null ? null : { entry, removed, restored },
    }),
    row: ({ pid, epoch, endsAt, undone }, places) => ({
      ends_at: isOfEpoch({ pid, epoch }, places) ? endsAt : 0,
      undo_entry: undone?.entry ?? null,
      removed: undone?.removed ?? 0,
      restored: undone?.restored ?? 0,
    }),
  }),
  unit({
    records: madeLinks,
    relation: "import_links",
    columns: {
      import_id: "id",
      chat_id: "chatId",
      game_id: "made.gameId",
      link_version: "made.linkVersion",
      verified_at: "made.lastVerifiedAt",
    },
    fields: (row, _, places) => {
      const { previous_verified_at: lastVerifiedAt, previous_proven_at: provenAt } = row;
      const before = {
        gameId: row["previous_game_id"],
        lastVerifiedAt,
        proof: row["previous_proof"],
        ...(provenAt !== null && { provenAt }),
        ...(row["previous_linked_at"] !== null && { linkedAt: row["previous_linked_at"] }),
      };
      return { ...at(places.imports, String(row["import_id"])), ...(lastVerifiedAt !== null && { before }) };
    },
    row: ({ before }) => ({
      previous_game_id: before?.gameId ?? null,
      previous_verified_at: before?.lastVerifiedAt ?? null,
      previous_proof: before?.proof ?? null,
      previous_proven_at: before?.provenAt ?? null,
      previous_linked_at: before?.linkedAt ?? null,
    }),
    isKept: ({ id, epoch }, places) => places.imports.get(id)?.epoch === epoch,
  }),
];
