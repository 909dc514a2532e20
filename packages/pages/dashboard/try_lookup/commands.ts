/** Writes a request to the API as a `curl` command and as a JavaScript program. */

export interface Request {
  readonly method: "GET";
  readonly url: string;
}

/** @param key a key, or the shell variable that contains it */
export const curlOf = ({ url }: Request, key: string): string =>
  `curl -s "${url}" -H "Authorization: Bearer ${key}"`;

/** A call of the client, such as `links.get` of the chat user 100001. */
export interface ClientCall {
  readonly url: string;
  readonly method: string;
  readonly id: string;
  readonly options: Readonly<Record<string, string | true>>;
}

/** Writes a module that makes the call with the key from the environment. */
export const clientProgramOf = ({ url, method, id, options }: ClientCall): string => {
  const values = Object.keys(options).length === 0 ? [id] : [id, options];
  return `import { createClient } from "@accountlink/client";

const client = createClient({ url: ${JSON.stringify(url)}, key: process.env.ACCOUNTLINK_KEY });
console.log(await client.${method}(${values.map((value) => JSON.stringify(value)).join(", ")}));`;
};
