/** The embedded store of the Fastify server: keys and links are in `node:sqlite`, and rate-limit counts in memory. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { apiKey, fixture } from "../dataset.ts";
import * as Store from "./store.ts";

const windows = new Map<string, { count: number; readonly resetsAt: number }>();

const windowOf = ({ bucket, id, endsAt }: Store.Rule, now: number) => {
  const name = `${bucket}:${id}`;
  let window = windows.get(name);
  if (window === undefined || window.resetsAt <= now) {
    window = { count: 0, resetsAt: endsAt };
    windows.set(name, window);
  }
  return window;
};

const admit: Store.Database["admit"] = (rules) => {
  const now = Date.now();
  const counted = rules.map((rule) => windowOf(rule, now));
  const full = rules.find(({ limit }, index) => (counted[index]?.count ?? 0) >= limit);
  if (full !== undefined) return full.bucket;
  for (const window of counted) window.count++;
  const [, , second, day] = counted;
  return { second: second?.count ?? 0, secondEnds: second?.resetsAt ?? 0, day: day?.count ?? 0 };
};

export const open = (file: string, isNew: boolean): Store.Database => {
  const db = new DatabaseSync(file);
  const schema = Store.schemaOf("INTEGER PRIMARY KEY", "WITHOUT ROWID");
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
  const prepare = (text: string) =>
    db.prepare(text.replace("= ANY ($2)", "IN (SELECT value FROM json_each($2))").replaceAll("$", "?"));

  if (isNew) {
    const insertLink = db.prepare("INSERT INTO links VALUES (?, ?, ?, NULL, 1, ?, ?)");
    db.exec("BEGIN");
    prepare(Store.insertKey).run(Store.hashOf(apiKey), JSON.stringify(Store.storedKey));
    for (const { chatId, gameId, lastVerifiedAt } of fixture().links) {
      const at = Date.parse(lastVerifiedAt);
      insertLink.run(Store.pid, chatId, gameId, at, at);
    }
    db.exec("COMMIT");
  }

  const prepared = new Map(Object.entries(Store.statements).map(([name, text]) => [name, prepare(text)]));
  const run = (name: keyof typeof Store.statements, ...values: ReadonlyArray<SQLInputValue>) =>
    (prepared.get(name)?.all(...values) ?? []) as Store.Rows;

  return {
    rows: (name, ...values) =>
      run(name, ...values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)))),
    admit,
    setGame: (write) => {
      db.exec("BEGIN IMMEDIATE");
      try {
        const [set] = run("setGame", write.pid, write.chatId, write.gameId, write.now);
        const row = set as unknown as Store.SetRow;
        const previousGameId = row.previous_game_id;
        if (previousGameId !== write.gameId) run("insertRecord", ...Store.recordOf(write, row));
        if (write.once !== null) {
          const [kept] = run("insertOnce", ...Store.onceOf(write.once, write.now, previousGameId));
          if (kept === undefined) throw new Store.KeyUsed();
        }
        db.exec("COMMIT");
        return { previousGameId };
      } catch (error) {
        db.exec("ROLLBACK");
        if (!(error instanceof Store.KeyUsed)) throw error;
        return Store.keptIn(run("findOnce", write.once?.id ?? ""));
      }
    },
    close: () => db.close(),
  };
};
