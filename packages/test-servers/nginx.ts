/** An nginx for tests. */
import { makeBalancer } from "./internal/balancer.ts";

const nginx = makeBalancer({
  name: "nginx",
  names: ["nginx"],
  path: "usr/sbin/nginx",
  packages: ["nginx"],
  argumentsFor: (config, folder) => [
    "-p",
    folder,
    "-c",
    config,
    "-e",
    "stderr",
    "-g",
    `daemon off; pid ${folder}/nginx.pid;`,
  ],
});

/**
 * Why no nginx can be started here, or null when one can: for the title of a skip.
 *
 * @throws Error in place of a reason when CI=true, where nothing is skipped
 */
export const whyNoNginx = nginx.whyNone;

/**
 * Starts an nginx that listens on a free port, and gives the port. It is gone with the scope, or with this process.
 *
 * @param configFor the configuration with which it listens on a port of 127.0.0.1 and keeps its files in a folder
 */
export const startNginx = nginx.start;
