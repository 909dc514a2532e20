import {
  cacheOutageSuite,
  cacheSuite,
  countersOutageSuite,
  countersSuite,
  signalsOutageSuite,
  signalsSuite,
} from "@accountlink/testing/conformance";
import * as test from "vitest";
import { CacheMemory } from "../mod.ts";

const { layer } = CacheMemory;
const name = "Memory";
const skip = "memory has no connection";

countersSuite({ name, layer, test });
cacheSuite({ name, layer, test });
signalsSuite({ name, layer, test });
countersOutageSuite({ name, test, skip });
cacheOutageSuite({ name, test, skip });
signalsOutageSuite({ name, test, skip });
