import type { KeyDetails } from "@accountlink/core/keys";
import type { Html } from "../../html.ts";
import { menuField } from "./field.ts";
import { nameOf } from "./owned_key.ts";

/** @param chosen the ID of a key; null for all keys */
export const keyMenu = (keys: ReadonlyArray<KeyDetails>, chosen: string | null): Html =>
  menuField({
    name: "keyId",
    label: "Key",
    value: chosen ?? "",
    problems: [],
    choices: [
      { value: "", label: "All keys" },
      ...keys.map((key) => ({ value: key.id as string, label: nameOf(key) })),
    ],
  });
