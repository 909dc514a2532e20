import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = `
  import { Effect } from "effect";
  import { uploadFolder } from ${JSON.stringify(new URL("upload_folder.ts", import.meta.url).href)};
  const { append } = await Effect.runPromise(uploadFolder.create);
  console.log((await Effect.runPromise(Effect.result(append(new Uint8Array(100_000)))))._tag);
`;

it.skipIf(process.platform === "win32")("an upload fails if only a part of it can be stored", async () => {
  // Limits files to some kilobytes, which stands for a full disk.
  const limited = ["-c", 'ulimit -f 16 && exec "$0" --input-type=module -e "$1"', process.execPath, program];
  const { stdout } = await promisify(execFile)("/bin/sh", limited, { cwd: import.meta.dirname });
  expect(stdout.trim()).toBe("Failure");
});
