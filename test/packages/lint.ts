/** Returns publint's messages for a tarball. */
import { readFile } from "node:fs/promises";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

export const lint = async (tarball: string): Promise<ReadonlyArray<string>> => {
  const bytes = await readFile(tarball);
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
  return messages.map((message) => formatMessage(message, pkg) ?? message.code);
};
