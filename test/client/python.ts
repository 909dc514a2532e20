/** Runs Python with the client of `clients/python`. */
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonProgram } from "@accountlink/test-servers";

export const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The command of Python, and environment variables with which it finds the client. */
export const pythonWithClient = async (client = pathOf("clients/python")) => {
  const { file, env } = await pythonProgram();
  const path = [client, env["PYTHONPATH"]].filter((each) => each !== undefined).join(delimiter);
  return { file, env: { ...process.env, ...env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: "1" } };
};
