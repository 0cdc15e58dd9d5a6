import fc from 'fast-check';

export type Schema = Readonly<Record<string, unknown>>;

/** Generates values that match schemas of one document. */
export class SchemaValues {
  constructor(
    private readonly components: Readonly<Record<string, Schema>>,
    /** Strings that are known to the server, such as IDs of stored records. */
    private readonly texts: readonly string[],
  ) {}

  valuesOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
    const reference = schema['$ref'];
    if (typeof reference === 'string') {
      const name = reference.slice(reference.lastIndexOf('/') + 1);
      return this.valuesOf(this.components[name] ?? {}, depth);
    }
    if ('const' in schema) return fc.constant(schema['const']);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
    const choices = schema['anyOf'];
    if (Array.isArray(choices)) return this.oneOf(choices as Schema[], depth);
    if (Array.isArray(schema['allOf'])) return this.allOf(schema['allOf'] as Schema[], depth);
    const { type } = schema;
    if (Array.isArray(type))
      return this.oneOf(
        (type as string[]).map((one) => ({ ...schema, type: one })),
        depth,
      );
    return typeof type === 'string' ? this.ofType(type, schema, depth) : fc.jsonValue({ maxDepth: 1 });
  }

  /** Null is rare if there are alternatives, and the only value at great depth. */
  private oneOf(choices: readonly Schema[], depth: number): fc.Arbitrary<unknown> {
    const others = choices.filter(({ type }) => type !== 'null');
    const hasNull = others.length < choices.length;
    if (others.length === 0 || (hasNull && depth > 6)) return fc.constant(null);
    const values = others.map((choice) => ({ arbitrary: this.valuesOf(choice, depth), weight: 4 }));
    return fc.oneof(...values, ...(hasNull ? [{ arbitrary: fc.constant(null), weight: 1 }] : []));
  }

  private allOf(parts: readonly Schema[], depth: number): fc.Arbitrary<unknown> {
    return fc
      .tuple(...parts.map((part) => this.valuesOf(part, depth)))
      .map((values) => Object.assign({}, ...values) as unknown);
  }

  private ofType(type: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    switch (type) {
      case 'object':
        return this.objects(schema, depth);
      case 'array':
        return fc.array(this.valuesOf((schema['items'] ?? {}) as Schema, depth + 1), {
          maxLength: schema['maxItems'] === 0 || depth > 7 ? 0 : 2,
        });
      case 'string':
        return this.strings(schema);
      case 'integer':
        return integers(schema);
      case 'number':
        return fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
      case 'boolean':
        return fc.boolean();
      default:
        return fc.constant(null);
    }
  }

  private strings(schema: Schema): fc.Arbitrary<string> {
    if (schema['maxLength'] === 0) return fc.constant('');
    if (schema['format'] === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
    if (schema['contentEncoding'] === 'base64') return fc.base64String({ maxLength: 40 });
    return fc.oneof(fc.constantFrom(...this.texts), fc.string({ maxLength: 12 }));
  }

  private objects(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
    const required = (schema['required'] ?? []) as readonly string[];
    const optional = Object.keys(properties).filter((name) => !required.includes(name));
    const free = schema['additionalProperties'];
    if (typeof free === 'object' && free !== null && optional.length === 0) {
      const values = this.valuesOf(free as Schema, depth + 1);
      return fc.dictionary(fc.oneof(fc.constantFrom(...this.texts), fc.string({ maxLength: 6 })), values, {
        maxKeys: depth > 6 ? 0 : 2,
        noNullPrototype: true,
      });
    }
    return fc
      .subarray(optional, { maxLength: Math.min(optional.length, depth > 6 ? 0 : 5) })
      .chain((chosen) =>
        fc.record(
          Object.fromEntries(
            [...required, ...chosen].map((name) => [name, this.valuesOf(properties[name] ?? {}, depth + 1)]),
          ),
        ),
      );
  }
}

function integers({ minimum }: Schema): fc.Arbitrary<number> {
  const least = typeof minimum === 'number' ? minimum : -3;
  return fc.oneof(
    fc.integer({ min: least, max: least + 6 }),
    fc.constantFrom(100, 2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER),
    fc.integer({ min: Math.max(least, 0), max: 1_000_000_000_000 }),
  );
}

/** A deep merge of two documents; the second one takes precedence. */
export function overlaid(under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (Array.isArray(under) && Array.isArray(over)) {
    return over.length === 0 ? under : over.map((item, at) => overlaid(under[at] as unknown, item));
  }
  if (!isRecord(under) || !isRecord(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) merged[key] = overlaid(under[key], value);
  return merged;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
