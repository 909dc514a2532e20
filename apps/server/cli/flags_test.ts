import { Option } from "effect";
import { expect, it } from "vitest";
import { readKeyId } from "./flags.ts";

const id = "Aa0Bb1Cc2Dd3";
const secret = "x".repeat(43);

it.each([id, `alk_${id}`, `alk_${id}_`, `alk_${id}_…`, `alk_${id}_...`, `alk_${id}_${secret}`])(
  "readKeyId reads %s",
  (text) => {
    expect(readKeyId(text)).toEqual(Option.some(id));
  },
);

it.each([
  "",
  "alk_",
  id.slice(1),
  `${id}0`,
  `alk_${id}_${secret}0`,
  `alk_${id}_${secret.slice(1)}`,
  `key_${id}`,
])("readKeyId refuses %j", (text) => {
  expect(Option.isNone(readKeyId(text))).toBe(true);
});
