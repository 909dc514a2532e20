import { KeyStore, LinkStore } from "@accountlink/core";
import { Effect } from "effect";
import { DatabaseSync } from "node:sqlite";
import { StorageSql } from "./mod.ts";
import { rmSync } from "node:fs";
rmSync("/tmp/exp/data", { recursive: true, force: true });
const origin = { actor: { type: "operator", id: "me" }, requestId: null } as const;
const N = 100000;
const rows: any[] = Array.from({ length: N }, (_, i) => ({ chatId: String(100000000000000000 + i * 7), gameId: String(1000000000 + (i % 90000)), lastVerifiedAt: 1700000000000 + i }));
for (let i = N - 1; i > 0; i--) { const j = Math.floor(Math.random() * (i + 1)); [rows[i], rows[j]] = [rows[j], rows[i]]; }
const p = Effect.gen(function* () {
  const keys = yield* KeyStore, links = yield* LinkStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  const pid = "pid_0123456789abcdef" as any;
  yield* keys.ensureScope("acme", { kind: "global" }, pid);
  for (const existing of ["keep", "keep", "replace"] as const) {
    const t = performance.now(); let c = { inserted: 0, replaced: 0, kept: 0 };
    for (let i = 0; i < N; i += 5000) { const r = yield* links.importBatch({ pid, links: rows.slice(i, i + 5000).map(r => existing==="replace"?({...r, gameId: r.gameId+"1"}):r), existing, progress: { source: "f", position: i } }); c = { inserted: c.inserted + r.inserted, replaced: c.replaced + r.replaced, kept: c.kept + r.kept }; }
    console.log("import", existing, (performance.now() - t).toFixed(0), "ms", c);
  }
  {
    const t = performance.now(); let after: any = null, n = 0;
    for (;;) { const page = yield* links.exportPage(pid, after, 5000); n += page.length; if (page.length === 0) break; after = page.at(-1)!.chatId; }
    console.log("export", n, (performance.now() - t).toFixed(0), "ms");
  }
  for (let k = 0; k < 3; k++) {
    const t = performance.now();
    for (let i = 0; i < 200000; i++) yield* links.findByChatId(pid, rows[i % N].chatId);
    console.log("port reads/s", (200000 / (performance.now() - t) * 1000) | 0);
  }
  for (let k = 0; k < 2; k++) {
    const t = performance.now();
    for (let i = 0; i < 10000; i++) yield* links.findByGameIds(pid, [rows[i % N].gameId]);
    console.log("game reads/s", (10000 / (performance.now() - t) * 1000) | 0);
  }
  for (let k = 0; k < 2; k++) {
    const t = performance.now();
    for (let i = 0; i < 3000; i++) yield* links.findByChatIds(pid, rows.slice(i * 10, i * 10 + 50).map((r) => r.chatId));
    console.log("50-id batches/s", (3000 / (performance.now() - t) * 1000) | 0);
  }
  for (let k = 0; k < 2; k++) {
    const t = performance.now();
    for (let i = 0; i < 1000; i++) yield* links.setGame({ ...origin, pid, chatId: rows[i].chatId, gameId: String(i + 1) as any, at: i });
    console.log("setGame/s", (1000 / (performance.now() - t) * 1000) | 0);
  }
  const db = new DatabaseSync("/tmp/exp/data/accountlink.db");
  const get = db.prepare("SELECT chat_id, game_id, link_version, linked_at, last_verified_at FROM links WHERE pid = ? AND chat_id = ?");
  for (let k = 0; k < 2; k++) {
    const t = performance.now();
    for (let i = 0; i < 200000; i++) get.get(pid, rows[i % N].chatId);
    console.log("raw reads/s", (200000 / (performance.now() - t) * 1000) | 0);
  }
  { const t = performance.now(); db.prepare("PRAGMA quick_check").all(); console.log("quick_check ms", performance.now() - t); }
  for (const q of ["SELECT chat_id, game_id, link_version FROM links WHERE pid=? AND chat_id IN (SELECT value FROM json_each(?))", "SELECT chat_id, game_id FROM links WHERE pid = ? AND game_id IN (SELECT value FROM json_each(?)) ORDER BY game_id, linked_at DESC, chat_id", "SELECT chat_id FROM links WHERE pid=? AND chat_id > ? AND game_id IS NOT NULL ORDER BY chat_id LIMIT 5"]) console.log(db.prepare("EXPLAIN QUERY PLAN " + q).all().map((r: any) => r.detail));
  db.close();
  { const t = performance.now(); console.log(yield* links.deleteScope({ ...origin, pid, at: 1 }), "deleteScope ms", performance.now() - t); }
});
await Effect.runPromise(Effect.provide(p, StorageSql.layerEmbedded({ folder: "/tmp/exp/data" })));
