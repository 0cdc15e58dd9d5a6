import { remembered } from '../shared/remembered.js';
import { isRecord, percentDecoded } from '../shared/values.js';
import { memberKeywords } from './member-keywords.js';
import {
  type Check,
  type JsonObject,
  leaveOpen,
  type Part,
  pointed,
  type Reference,
  type SchemaNode,
  type SchemaProblem,
} from './run.js';
import { scalarKeywords } from './scalar-keywords.js';
import {
  compositionKeywords,
  hidesBesideReference,
  identificationKeywords,
  isAnnotation,
  refuseUnknown,
} from './schema-keywords.js';

/** Maximum nesting of schemas. */
const deepestSchema = 100;

/** Maximum total compile time of a schema's patterns, in microseconds. */
const compilingTime = 250_000;

/** In checking order: cheap and decisive keywords first. */
const groups = [...identificationKeywords, ...scalarKeywords, ...memberKeywords, ...compositionKeywords];

const known: ReadonlySet<string> = new Set(groups.flatMap(({ keywords }) => keywords));

/** Keywords that apply beside `$ref` in every version. */
const besideReference: ReadonlySet<string> = new Set([
  '$ref',
  ...identificationKeywords.flatMap(({ keywords }) => keywords),
]);

/** Maximum number of reported problems. */
const mostProblems = 20;

/** A schema, ready to validate values. Parts with problems leave values open. */
interface ReadSchema {
  readonly root: SchemaNode;
  readonly problems: readonly SchemaProblem[];
}

/** Parses the JSON text of a schema. The last few dozen are cached. */
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
    if (isRecord(schema)) {
      this.#hidesBesideReference = hidesBesideReference(schema['$schema']);
      const id = schema['$id'] ?? schema['id'];
      if (typeof id === 'string') this.#id = id.replace(/#$/, '');
    }
    const root = this.#node(schema, '', 0);
    for (const reference of this.#references) this.#resolve(reference);
    this.#findCircles();
    return { root, problems: this.#problems };
  }

  #report(pointer: string, message: string): void {
    if (this.#problems.length < mostProblems) this.#problems.push({ pointer, message });
  }

  #node(schema: unknown, pointer: string, level: number): SchemaNode {
    const node: SchemaNode = { pointer, checks: [], inPlace: [], isTarget: false };
    this.#nodes.set(pointer, node);
    if (schema === false) node.checks.push((_value, run, place) => run.unfit(place, 'is not permitted'));
    else if (isRecord(schema)) node.checks.push(...this.#checks(schema, node, level));
    else if (schema !== true) {
      this.#report(pointer, 'must be a schema: an object, true or false');
      node.checks.push(leaveOpen);
    }
    return node;
  }

  #checks(schema: JsonObject, node: SchemaNode, level: number): readonly Check[] {
    if (level >= deepestSchema) {
      if (!this.#isTooDeep) this.#report('', `must have at most ${deepestSchema} levels of schemas`);
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
        this.#report(`${node.pointer}/${keyword}`, `${keyword.split('/')[0]} ${message}`);
        return leaveOpen;
      },
      reference: (text) => {
        const reference: Reference = { text, from: node, target: null };
        this.#references.push(reference);
        return reference;
      },
      anchor: (name) => {
        if (this.#anchors.has(name))
          this.#report(`${node.pointer}/$anchor`, '$anchor has the same name as another one');
        // A reference to it would be ambiguous.
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
      this.#report(pointer, '$ref must point into the same schema, such as #/$defs/name');
      return;
    }
    const isPointer = fragment === '' || fragment.startsWith('/');
    const target = isPointer ? this.#nodes.get(fragment) : this.#anchors.get(fragment);
    if (target === undefined) {
      this.#report(pointer, `$ref points to no schema: ${text.slice(0, 200)}`);
      return;
    }
    reference.target = target;
    target.isTarget = true;
    from.inPlace.push(target);
  }

  /** The target of a reference within this schema; undefined for a target in another one. */
  #fragmentOf(text: string): string | undefined {
    const local = this.#id !== '' && text.startsWith(this.#id) ? text.slice(this.#id.length) : text;
    if (local === '') return text === '' ? undefined : '';
    return local.startsWith('#') ? percentDecoded(local.slice(1)) : undefined;
  }

  /** A part that refers to itself without descending into the value would never end. */
  #findCircles(): void {
    const finished = new Set<SchemaNode>();
    const open = new Set<SchemaNode>();
    const visit = (node: SchemaNode): void => {
      if (finished.has(node)) return;
      if (open.has(node)) {
        finished.add(node);
        this.#report(node.pointer, 'refers to itself without descending into the data');
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

/** In older versions of the specification the siblings of a reference have no effect, which is hardly ever intended. */
function refuseHidden({ schema, refuse }: Part): void {
  for (const keyword of Object.keys(schema)) {
    if (known.has(keyword) && !besideReference.has(keyword)) {
      refuse(keyword, 'has no effect beside $ref in this version of JSON Schema: use allOf, or 2020-12');
    }
  }
}
