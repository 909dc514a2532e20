import { redisUrl, whyNoRedisUrl } from "@accountlink/test-servers";
import { kvSuite } from "@accountlink/testing/conformance";
import { Context, Effect, Layer, Redacted } from "effect";
import * as test from "vitest";
import { layer as connections, RedisConnections } from "../connection/connections.ts";
import { uniquePrefix } from "../test_redis.ts";
import { redisKv } from "./redis_kv.ts";

const noUrl = await whyNoRedisUrl();

test.describe.skipIf(noUrl !== null)(`engine ${noUrl ?? "on Redis"}`, () => {
  const shared = uniquePrefix();
  let address = "";
  const handle = Effect.gen(function* () {
    const options = { url: Redacted.make(address), prefix: shared, commandTimeout: "20 seconds" } as const;
    const { commands, prefix } = Context.get(yield* Layer.build(connections(options)), RedisConnections);
    return redisKv(commands, prefix);
  });
  const engine = Effect.tap(redisUrl, (url) => Effect.sync(() => (address = url))).pipe(
    Effect.andThen(handle),
  );
  kvSuite({ name: "Redis", engine, other: handle, test });
});
