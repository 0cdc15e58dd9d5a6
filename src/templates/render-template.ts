import { err, ok, type Result } from 'neverthrow';
import { functionNamed } from './functions/index.js';
import type { Call, ReadsOf, TemplateInputs, VariableRead } from './functions/template-function.js';
import {
  type Base,
  type Block,
  CHARACTERS_PER_STEP,
  type Command,
  type FaultAt,
  MAX_OUTPUT,
  MAX_WORK,
  type Operand,
  type Pipeline,
  type Statement,
} from './tree.js';
import {
  isItem,
  isList,
  isMap,
  isMetadata,
  isTrue,
  kindOf,
  namesOf,
  printed,
  type Value,
  VariableItems,
} from './values.js';

/** The output of a template, and the inputs that it depends on. */
export interface Rendering {
  readonly text: string;
  /** Variables that were read or tested, existing or not, without duplicates, in the order of the template. */
  readonly variables: readonly VariableRead[];
  /** Path prefixes that were listed. */
  readonly prefixes: readonly VariableRead[];
  /** Variables that were read but do not exist: the output must not be used until they do. */
  readonly missing: readonly VariableRead[];
}

/** Rendering options. */
export interface RenderOptions {
  /** Whether a missing key of a map is a fault instead of `<no value>`. */
  readonly failsWithoutKey?: boolean;
}

/** Renders statements on one snapshot of the inputs. */
export function renderTree(
  block: Block,
  inputs: TemplateInputs,
  { failsWithoutKey = false }: RenderOptions,
): Result<Rendering, FaultAt> {
  const renderer = new Renderer(inputs, failsWithoutKey);
  renderer.block(block, undefined);
  return renderer.fault === undefined ? ok(renderer.rendering()) : err(renderer.fault);
}

/** How a block ended. */
type Ending = 'whole' | 'break' | 'continue' | 'fault';

class Renderer {
  fault: FaultAt | undefined;
  readonly #parts: string[] = [];
  readonly #variables: { readonly name: string; value: Value }[] = [{ name: '$', value: undefined }];
  readonly #reads = new Reads();
  readonly #call: Call;
  /** Constants that were evaluated so far. */
  readonly #written = new Set<Value>();
  #left = MAX_OUTPUT;
  #work = MAX_WORK;
  #offset = 0;

  constructor(
    inputs: TemplateInputs,
    readonly failsWithoutKey: boolean,
  ) {
    this.#call = {
      inputs,
      reads: this.#reads,
      spend: (characters) => this.#spend(characters / CHARACTERS_PER_STEP),
      fail: (message) => this.#fail(message),
      isWritten: (value) => this.#written.has(value),
    };
  }

  rendering(): Rendering {
    return { text: this.#parts.join(''), ...this.#reads.all() };
  }

  block(statements: Block, dot: Value): Ending {
    const known = this.#variables.length;
    for (const statement of statements) {
      if (!this.#spend(1, statement.offset)) return 'fault';
      const ending = this.#statement(statement, dot);
      if (ending !== 'whole') {
        this.#variables.length = known;
        return ending;
      }
    }
    this.#variables.length = known;
    return 'whole';
  }

  #statement(statement: Statement, dot: Value): Ending {
    switch (statement.kind) {
      case 'text':
        return this.#put(statement.text);
      case 'action': {
        const value = this.#pipeline(statement.pipeline, dot);
        if (this.fault !== undefined) return 'fault';
        return statement.pipeline.variables.length > 0 ? 'whole' : this.#print(value, statement.offset);
      }
      case 'break':
      case 'continue':
        return statement.kind;
      case 'if':
      case 'with':
      case 'range': {
        const known = this.#variables.length;
        const ending = this.#control(statement, dot);
        this.#variables.length = known;
        return ending;
      }
    }
  }

  #control(statement: Extract<Statement, { kind: 'if' | 'with' | 'range' }>, dot: Value): Ending {
    const { kind, pipeline, body, otherwise } = statement;
    const value = this.#pipeline(pipeline, dot, kind !== 'range');
    if (this.fault !== undefined) return 'fault';
    if (kind === 'range') return this.#range(statement, value, dot);
    if (!isTrue(value)) return this.block(otherwise, dot);
    return this.block(body, kind === 'with' ? value : dot);
  }

  #range(statement: Extract<Statement, { kind: 'if' | 'with' | 'range' }>, value: Value, dot: Value): Ending {
    const { pipeline, body, otherwise, offset } = statement;
    if (typeof value === 'bigint' && pipeline.variables.length > 1) {
      this.#fail('a range over a whole number sets one variable', offset);
      return 'fault';
    }
    const items = this.#items(value, offset);
    if (items === undefined) return 'fault';
    let isEmpty = true;
    for (const [key, item] of items) {
      isEmpty = false;
      if (!this.#spend(1, offset)) return 'fault';
      const known = this.#variables.length;
      this.#setRangeVariables(pipeline, key, item);
      const ending = this.block(body, item);
      this.#variables.length = known;
      if (ending === 'break') return 'whole';
      if (ending === 'fault') return 'fault';
    }
    return isEmpty ? this.block(otherwise, dot) : 'whole';
  }

  /** Indexes and items of a list, keys and items of a map in order, or the integers from 0 up to a number. */
  #items(value: Value, offset: number): Iterable<readonly [key: Value, item: Value]> | undefined {
    if (value === undefined || value === null) return [];
    if (isList(value)) return value.map((item, at) => [BigInt(at), item] as const);
    if (isMap(value)) return namesOf(value).map((name) => [name, value.get(name)] as const);
    if (typeof value === 'bigint') return numbersBelow(value);
    return this.#fail(`a range goes over a list, a map or a whole number, not ${kindOf(value)}`, offset);
  }

  /** One variable is the item, two are the key and the item. */
  #setRangeVariables({ variables, declares }: Pipeline, key: Value, item: Value): void {
    const [first, second] = variables;
    if (first === undefined) return;
    this.#set(first, second === undefined ? item : key, declares);
    if (second !== undefined) this.#set(second, item, declares);
  }

  #set(name: string, value: Value, declares: boolean): void {
    const known = declares ? undefined : this.#variables.findLast((variable) => variable.name === name);
    if (known === undefined) this.#variables.push({ name, value });
    else known.value = value;
  }

  /** A range sets its variables for each item; other pipelines set them here. */
  #pipeline(pipeline: Pipeline, dot: Value, setsVariables = true): Value {
    let value: Value;
    for (const [at, command] of pipeline.commands.entries()) {
      value = this.#command(command, dot, at > 0, value);
      if (this.fault !== undefined) return undefined;
    }
    for (const name of setsVariables ? pipeline.variables : []) this.#set(name, value, pipeline.declares);
    return value;
  }

  #command(command: Command, dot: Value, piped: boolean, previous: Value): Value {
    if (!this.#spend(1, command.offset)) return undefined;
    if (command.kind === 'value') return this.#operand(command.operand, dot);
    const args: Value[] = [];
    for (const operand of command.args) {
      const value = this.#operand(operand, dot);
      if (this.fault !== undefined) return undefined;
      if (decides(command.name, value)) return value;
      args.push(value);
    }
    if (piped) args.push(previous);
    return this.#run(command.name, args, command.offset);
  }

  #run(name: string, args: readonly Value[], offset: number): Value {
    this.#offset = offset;
    return functionNamed(name)?.run(args, this.#call);
  }

  #operand({ base, path, offset }: Operand, dot: Value): Value {
    if (!this.#spend(1 + path.length, offset)) return undefined;
    let value = this.#base(base, dot, offset);
    if (value === undefined && isData(base)) return this.#ofNoData(path, offset);
    for (const name of path) {
      if (this.fault !== undefined) return undefined;
      value = this.#member(value, name, offset);
    }
    return value;
  }

  /** Outside blocks that set the dot there is no data, and every member is missing. */
  #ofNoData([name]: readonly string[], offset: number): undefined {
    if (this.failsWithoutKey && name !== undefined)
      this.#fail(`there is no data here, so no ${JSON.stringify(name)}`, offset);
    return undefined;
  }

  #base(base: Base, dot: Value, offset: number): Value {
    switch (base.kind) {
      case 'dot':
        return dot;
      case 'variable':
        return this.#variables.findLast((variable) => variable.name === base.name)?.value;
      case 'constant':
        this.#written.add(base.value);
        return base.value;
      case 'call':
        return this.#run(base.name, [], offset);
      case 'pipeline':
        return this.#pipeline(base.pipeline, dot);
    }
  }

  #member(value: Value, name: string, offset: number): Value {
    if (value instanceof VariableItems) return value.own(name) ?? this.#ofMap(value, name, offset);
    if (isMap(value)) return this.#ofMap(value, name, offset);
    const member = isItem(value) ? ITEM_MEMBERS.get(name) : undefined;
    if (isItem(value) && member !== undefined) return value[member];
    if (isMetadata(value) && (name === 'Path' || name === 'Namespace')) return value[name];
    return this.#fail(`${kindOf(value)} has no member ${name}`, offset);
  }

  #ofMap(map: ReadonlyMap<string, Value>, name: string, offset: number): Value {
    if (this.failsWithoutKey && !map.has(name))
      return this.#fail(`there is no ${JSON.stringify(name)} in the map`, offset);
    return map.get(name);
  }

  #print(value: Value, offset: number): Ending {
    const text = printed(value, this.#left);
    if (text !== undefined && this.#spend(text.length / CHARACTERS_PER_STEP, offset)) return this.#put(text);
    this.#fail(`the output may have at most ${MAX_OUTPUT} characters`, offset);
    return 'fault';
  }

  #put(text: string): Ending {
    this.#left -= text.length;
    this.#parts.push(text);
    if (this.#left >= 0) return 'whole';
    this.#fail(`the output may have at most ${MAX_OUTPUT} characters`);
    return 'fault';
  }

  #spend(steps: number, offset = this.#offset): boolean {
    this.#offset = offset;
    this.#work -= steps;
    if (this.#work >= 0) return true;
    this.#fail('the template takes too much work');
    return false;
  }

  #fail(message: string, offset = this.#offset): undefined {
    this.fault ??= { offset, message };
    return undefined;
  }
}

/** An item counts as a tuple, too. */
const ITEM_MEMBERS: ReadonlyMap<string, 'Key' | 'Value' | 'Path'> = new Map([
  ['Key', 'Key'],
  ['Value', 'Value'],
  ['Path', 'Path'],
  ['K', 'Key'],
  ['V', 'Value'],
]);

/** `and` ends at the first argument that is not true, `or` at the first that is: later arguments are not evaluated. */
function decides(name: string, value: Value): boolean {
  return (name === 'and' && !isTrue(value)) || (name === 'or' && isTrue(value));
}

/** Whether the base is the dot, or `$`, the initial dot. */
function isData(base: Base): boolean {
  return base.kind === 'dot' || (base.kind === 'variable' && base.name === '$');
}

function* numbersBelow(end: bigint): Generator<readonly [bigint, bigint]> {
  for (let number = 0n; number < end; number += 1n) yield [number, number];
}

/** The reads so far, without duplicates. */
class Reads implements ReadsOf {
  readonly #variables = new Map<string, VariableRead>();
  readonly #prefixes = new Map<string, VariableRead>();
  readonly #missing = new Map<string, VariableRead>();

  variable(read: VariableRead, exists: boolean, isNeeded: boolean): void {
    this.#variables.set(keyOf(read), read);
    if (isNeeded && !exists) this.#missing.set(keyOf(read), read);
  }

  prefix(read: VariableRead): void {
    this.#prefixes.set(keyOf(read), read);
  }

  all(): Omit<Rendering, 'text'> {
    return {
      variables: [...this.#variables.values()],
      prefixes: [...this.#prefixes.values()],
      missing: [...this.#missing.values()],
    };
  }
}

function keyOf({ path, namespace = '' }: VariableRead): string {
  return `${namespace}@${path}`;
}
