import type { CacheRun } from "@accountlink/core";
import type { Redis } from "ioredis";
import { reasonOf } from "./redis_failure.ts";

/** A run that caches nothing and has no fences to lose. */
export const uncached = "uncached";

/**
 * Which process is asked, and since when it has been a master: what it was told since then it still knows. One that may
 * evict keys, or does not say who it is, may have forgotten anything.
 */
export class RedisRun {
  readonly #redis: Redis;
  #current: string | null = null;
  #connection = 0;

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on("close", () => {
      this.#current = null;
      this.#connection++;
    });
  }

  /** Whether this is what the connection leads to. */
  is(run: string): boolean {
    return this.#current === run;
  }

  async look(): Promise<CacheRun> {
    const connection = this.#connection;
    const [run, [seconds, micros]] = await Promise.all([this.#ask(), this.#redis.time()]);
    if (connection === this.#connection) this.#current = run;
    return { run, time: Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000) };
  }

  async #ask(): Promise<string> {
    const sections = ["server", "replication", "memory"].map((section) => this.#redis.info(section));
    try {
      const info = (await Promise.all(sections)).join("\n");
      const mayEvict = field(info, "maxmemory") !== "0" && field(info, "maxmemory_policy") !== "noeviction";
      const [process, history] = [field(info, "run_id"), field(info, "master_replid")];
      return mayEvict || process === "" || history === "" ? uncached : `${process}:${history}`;
    } catch (error) {
      if (reasonOf(error) === "NOPERM") return uncached;
      throw error;
    }
  }
}

const field = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
