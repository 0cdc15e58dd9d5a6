import { remembered } from '../shared/remembered.js';
import { isObject, type JsonObject, pointed } from './json.js';
import { arrayKeywords } from './keywords/arrays.js';
import { compositionKeywords } from './keywords/composition.js';
import {
  hidesBesideReference,
  identificationKeywords,
  isAnnotation,
  refuseUnknown,
} from './keywords/identification.js';
import { numberKeywords } from './keywords/numbers.js';
import { objectKeywords } from './keywords/objects.js';
import { textKeywords } from './keywords/texts.js';
import { valueKeywords } from './keywords/values.js';
import { compilingTime, deepestSchema } from './limits.js';
import { leaveOpen, type Part, type Reference, type SchemaProblem } from './part.js';
import type { Check, SchemaNode } from './run.js';

/** In the order in which a value is checked: what is cheap and says most comes first. */
const groups = [
  ...identificationKeywords,
  ...valueKeywords,
  ...numberKeywords,
  ...textKeywords,
  ...arrayKeywords,
  ...objectKeywords,
  ...compositionKeywords,
];

const known: ReadonlySet<string> = new Set(groups.flatMap(({ keywords }) => keywords));

/** What has a meaning beside `$ref` in every version. */
const besideReference: ReadonlySet<string> = new Set([
  '$ref',
  ...identificationKeywords.flatMap(({ keywords }) => keywords),
]);

/** The most problems that are reported. */
const mostProblems = 20;

/** A schema, ready to check values. Where it has a problem, it leaves values open. */
interface ReadSchema {
  readonly root: SchemaNode;
  readonly problems: readonly SchemaProblem[];
}

/** Reads the JSON text of a schema. The last few dozen are kept. */
export const readSchema: (source: string) => ReadSchema = remembered(
  (source) => new SchemaReader().read(JSON.parse(source)),
  64,
  65_536,
);

class SchemaReader {
  readonly #problems: SchemaProblem[] = [];
  readonly #nodes = new Map<string, SchemaNode>();
  readonly #anchors = new Map<string, SchemaNode | undefined>();
  readonly #references: Reference[] = [];
  #compiling = compilingTime;
  #isTooDeep = false;
  #hidesBesideReference = false;
  #id = '';

  read(schema: unknown): ReadSchema {
    if (isObject(schema)) {
      this.#hidesBesideReference = hidesBesideReference(schema['$schema']);
      const id = schema['$id'] ?? schema['id'];
      if (typeof id === 'string') this.#id = id.replace(/#$/, '');
    }
    const root = this.#node(schema, '', 0);
    for (const reference of this.#references) this.#resolve(reference);
    this.#findCircles();
    return { root, problems: this.#problems };
  }

  #tell(pointer: string, message: string): void {
    if (this.#problems.length < mostProblems) this.#problems.push({ pointer, message });
  }

  #node(schema: unknown, pointer: string, level: number): SchemaNode {
    const node: SchemaNode = { pointer, checks: [], inPlace: [], isTarget: false };
    this.#nodes.set(pointer, node);
    if (schema === false) node.checks.push((_value, run, place) => run.unfit(place, 'is not permitted'));
    else if (isObject(schema)) node.checks.push(...this.#checks(schema, node, level));
    else if (schema !== true) {
      this.#tell(pointer, 'must be a schema: an object, true or false');
      node.checks.push(leaveOpen);
    }
    return node;
  }

  #checks(schema: JsonObject, node: SchemaNode, level: number): readonly Check[] {
    if (level >= deepestSchema) {
      if (!this.#isTooDeep) this.#tell('', `must have at most ${deepestSchema} levels of schemas, not more`);
      this.#isTooDeep = true;
      return [leaveOpen];
    }
    const part = this.#part(schema, node, level);
    const isHiding = this.#hidesBesideReference && schema['$ref'] !== undefined;
    const present = groups.filter(({ keywords }) => keywords.some((keyword) => schema[keyword] !== undefined));
    const effective = isHiding ? present.filter(({ keywords }) => isOutsideReference(keywords)) : present;
    const checks = effective.map(({ read }) => read(part));
    const unknown = Object.keys(schema).filter((keyword) => !known.has(keyword) && !isAnnotation(keyword));
    checks.push(...unknown.map((keyword) => refuseUnknown(part, keyword)));
    if (isHiding) refuseHidden(part);
    return checks.filter((check) => check !== null);
  }

  #part(schema: JsonObject, node: SchemaNode, level: number): Part {
    const below = (path: readonly (string | number)[]): string => [node.pointer, ...path.map(pointed)].join('/');
    const inner: Part['inner'] = (each, ...path) => this.#node(each, below(path), level + 1);
    return {
      schema,
      node,
      inner,
      same: (each, ...path) => {
        const part = inner(each, ...path);
        node.inPlace.push(part);
        return part;
      },
      refuse: (keyword, message) => {
        this.#tell(`${node.pointer}/${keyword}`, `${keyword.split('/')[0]} ${message}`);
        return leaveOpen;
      },
      reference: (text) => {
        const reference: Reference = { text, from: node, target: null };
        this.#references.push(reference);
        return reference;
      },
      anchor: (name) => {
        if (this.#anchors.has(name)) this.#tell(`${node.pointer}/$anchor`, '$anchor has a name that another one has');
        // A reference to it could mean either.
        this.#anchors.set(name, this.#anchors.has(name) ? undefined : node);
      },
      spendCompiling: (time) => {
        this.#compiling -= time;
        return this.#compiling >= 0;
      },
    };
  }

  #resolve(reference: Reference): void {
    const { text, from } = reference;
    const pointer = `${from.pointer}/$ref`;
    const fragment = this.#fragmentOf(text);
    if (fragment === undefined) {
      this.#tell(pointer, '$ref must lead to a place in the same schema, such as #/$defs/name');
      return;
    }
    const isPointer = fragment === '' || fragment.startsWith('/');
    const target = isPointer ? this.#nodes.get(fragment) : this.#anchors.get(fragment);
    if (target === undefined) {
      this.#tell(pointer, `$ref leads to no schema: ${text.slice(0, 200)}`);
      return;
    }
    reference.target = target;
    target.isTarget = true;
    from.inPlace.push(target);
  }

  /** Where in this schema a reference leads; undefined when it leads to another one. */
  #fragmentOf(text: string): string | undefined {
    const local = this.#id !== '' && text.startsWith(this.#id) ? text.slice(this.#id.length) : text;
    if (local === '') return text === '' ? undefined : '';
    return local.startsWith('#') ? decoded(local.slice(1)) : undefined;
  }

  /** A part that checks a value on its own, whatever is between, would never reach an end. */
  #findCircles(): void {
    const finished = new Set<SchemaNode>();
    const open = new Set<SchemaNode>();
    const visit = (node: SchemaNode): void => {
      if (finished.has(node)) return;
      if (open.has(node)) {
        finished.add(node);
        this.#tell(node.pointer, 'refers to itself without going into the data');
        return;
      }
      open.add(node);
      for (const next of node.inPlace) visit(next);
      open.delete(node);
      finished.add(node);
    };
    for (const node of this.#nodes.values()) visit(node);
  }
}

function isOutsideReference(keywords: readonly string[]): boolean {
  return keywords.every((keyword) => besideReference.has(keyword));
}

/** By the older versions of the specification what is beside a reference has no effect, which nobody means who writes it. */
function refuseHidden({ schema, refuse }: Part): void {
  for (const keyword of Object.keys(schema)) {
    if (known.has(keyword) && !besideReference.has(keyword)) {
      refuse(keyword, 'has no effect beside $ref in this version of JSON Schema: use allOf, or 2020-12');
    }
  }
}

/** The text of a fragment, which may have percent-encoded characters. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
