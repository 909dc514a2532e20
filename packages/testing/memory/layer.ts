/** Every service and port in memory, loaded with a fixture, with a test clock. */

import type { Fixture } from "@accountlink/core";
import { webCrypto } from "@accountlink/core/secrets";
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { Layer } from "effect";
import { TestClock } from "effect/testing";
import { aFixture } from "../builders/complete_fixture.ts";
import { secrets } from "./secrets.ts";
import { load, servicesAfter, surroundings } from "./services.ts";

export { secrets } from "./secrets.ts";
export { publicUrl } from "./services.ts";

/**
 * Every service and port, loaded with a fixture. `Links`, `Keys`, `Sessions` and similar services work in the global
 * scope of the account "acme", the default account of fixtures. Every build is a new world at time 0 of its own test
 * clock; a fixture that cannot be loaded is a defect.
 *
 * @param fixture accounts, keys, links and platforms; empty by default
 */
export const layer = (fixture: Fixture = aFixture()) =>
  servicesAfter(load(fixture)).pipe(
    Layer.orDie,
    Layer.provideMerge(surroundings(fixture)),
    Layer.provideMerge(Layer.mergeAll(StorageMemory.layer, CacheMemory.layer, secrets, webCrypto)),
    Layer.provideMerge(TestClock.layer()),
    Layer.fresh,
  );

/** Every service and port that `layer` provides. */
export type Services = Layer.Success<ReturnType<typeof layer>>;
