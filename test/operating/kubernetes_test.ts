/** Validates the manifests of deploy/ with the schemas of Kubernetes and of its Gateway API. */
import { readdirSync } from "node:fs";
import { HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Service } from "kubernetes-models/v1/Service";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { readExample } from "./balancers.ts";

const models = [Deployment, HTTPRoute, Ingress, NetworkPolicy, PodDisruptionBudget, Service];

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Wraps a value so that `read` gets the path of each property that is read. */
const watch = <A>(value: A, read: Set<string>, path = ""): A =>
  isObject(value)
    ? new Proxy(value, {
        get: (target, name) => {
          const place = `${path}/${String(name)}`;
          read.add(place);
          return watch(Reflect.get(target, name), read, place);
        },
      })
    : value;

const pathsOf = (value: unknown, path = ""): ReadonlyArray<string> =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, each]) => [
        `${path}/${name}`,
        ...pathsOf(each, `${path}/${name}`),
      ])
    : [];

/** Returns the faults of a manifest. A schema accepts unknown fields, but does not read them. */
const mistakesIn = (manifest: { readonly apiVersion: string; readonly kind: string }) => {
  const model = models.find((each) => each.apiVersion === manifest.apiVersion && each.kind === manifest.kind);
  if (model === undefined) return [`${manifest.apiVersion}/${manifest.kind} is of no known schema`];
  const read = new Set<string>();
  try {
    model.prototype.validate.call(watch(manifest, read));
  } catch (error) {
    return [String(error)];
  }
  return pathsOf(manifest).filter((path) => !read.has(path));
};

const manifests = readdirSync(new URL("../../deploy/", import.meta.url))
  .filter((file) => /^kubernetes.*\.yaml$/.test(file))
  .flatMap((file) => parseAllDocuments(readExample(file)).map((document) => document.toJS()));

it("every manifest is valid by the schemas of Kubernetes, and has no unknown field", () => {
  expect(new Set(manifests.map(({ kind }) => kind))).toEqual(new Set(models.map(({ kind }) => kind)));
  expect(manifests.map(mistakesIn)).toEqual(manifests.map(() => []));
});

it.each([
  ["replicas: 3", "replicas: three", "/spec/replicas"],
  ["periodSeconds: 10", "periodSecond: 10", "/spec/template/spec/containers/0/livenessProbe/periodSecond"],
  ["apiVersion: apps/v1\n", "apiVersion: apps/v2\n", "apps/v2/Deployment"],
  ["maxUnavailable: 1\n", "maxUnavailable: [1]\n", "/spec/maxUnavailable"],
  ["podSelector:", "podsSelector:", "/spec/podsSelector"],
])("a manifest with a mistake is not: %j → %j", (right, wrong, place) => {
  const text = readExample("kubernetes.yaml");
  expect(text).toContain(right);
  const documents = parseAllDocuments(text.replace(right, wrong));
  expect(documents.flatMap((document) => mistakesIn(document.toJS())).join()).toContain(place);
});
