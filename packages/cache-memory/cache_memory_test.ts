import {
  cacheSuite,
  countersSuite,
  failingCacheSuite,
  failingCountersSuite,
  failingSignalsSuite,
  signalsSuite,
} from "@accountlink/conformance";
import * as test from "vitest";
import { CacheMemory } from "./mod.ts";

const { layer } = CacheMemory;
const name = "Memory";
const skip = "memory has no connection that could break";

countersSuite({ name, layer, test });
cacheSuite({ name, layer, test });
signalsSuite({ name, layer, test });
failingCountersSuite({ name, test, skip });
failingCacheSuite({ name, test, skip });
failingSignalsSuite({ name, test, skip });
