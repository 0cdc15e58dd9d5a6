import { unquoted } from '../shared/source-text.js';
import { functionNamed, refusalOf } from './functions/index.js';
import { constantFrom } from './numbers.js';
import type { Token, TokenKind } from './tokens.js';
import {
  type Base,
  type Command,
  type FaultAt,
  MAX_DEPTH,
  MAX_LITERAL,
  MAX_VARIABLES,
  type Operand,
  type Pipeline,
} from './tree.js';

/** The position of a pipeline, which determines which variables it may declare. */
type PipelineContext = 'action' | 'control' | 'range' | 'inner';

/** Parses the content of an action. Only the first fault is kept; after it, all readers return undefined. */
export class PipelineParser {
  fault: FaultAt | undefined;
  #at = 0;
  #variables: string[] = ['$'];
  #depth = 0;

  constructor(
    readonly tokens: readonly Token[],
    readonly end: number,
  ) {}

  get offset(): number {
    return this.tokens[this.#at]?.offset ?? this.end;
  }

  isAtEnd(): boolean {
    return this.#at >= this.tokens.length;
  }

  fail(message: string, offset = this.offset): undefined {
    this.fault ??= { offset, message };
    return undefined;
  }

  /** The next token if it has this kind and, if given, this string. */
  take(kind: TokenKind, text?: string): Token | undefined {
    const token = this.tokens[this.#at];
    if (token?.kind !== kind || (text !== undefined && token.text !== text)) return undefined;
    this.#at += 1;
    return token;
  }

  /** The first word of the action at the current position. */
  keyword(): string | undefined {
    let at = this.#at;
    if (this.tokens[at]?.kind === 'open') at += 1;
    if (this.tokens[at]?.kind === 'space') at += 1;
    const token = this.tokens[at];
    return token?.kind === 'name' ? token.text : undefined;
  }

  open(): void {
    this.take('open');
    this.take('space');
  }

  word(): Token | undefined {
    this.take('space');
    return this.take('name');
  }

  close(): true | undefined {
    this.take('space');
    if (this.take('close') !== undefined) return true;
    return this.fail(`the action should end before ${this.#shown()}`);
  }

  /** The variables in scope. */
  scope(): number {
    return this.#variables.length;
  }

  /** Ends the scope of variables declared since the mark. */
  restore(scope: number): void {
    this.#variables.length = scope;
  }

  pipeline(context: PipelineContext): Pipeline | undefined {
    if (this.#depth >= MAX_DEPTH) return this.fail(`parentheses may be nested at most ${MAX_DEPTH} levels deep`);
    this.#depth += 1;
    this.take('space');
    const { offset } = this;
    const declaration = this.#declaration(context);
    const commands = declaration && this.#commands();
    this.#depth -= 1;
    if (declaration === undefined || commands === undefined) return undefined;
    if (declaration.declares) this.#variables.push(...declaration.variables);
    if (this.#variables.length > MAX_VARIABLES)
      return this.fail(`a template may have at most ${MAX_VARIABLES} variables`, offset);
    return { ...declaration, commands, offset };
  }

  /** `$a :=`, `$a =`, and for ranges `$i, $v :=`. */
  #declaration(context: PipelineContext): Pick<Pipeline, 'variables' | 'declares'> | undefined {
    const [start, { offset }] = [this.#at, this];
    const variables: string[] = [];
    do {
      this.take('space');
      const variable = this.take('variable');
      if (variable === undefined) break;
      variables.push(variable.text);
      this.take('space');
    } while (this.take('mark', ',') !== undefined);
    const declares = this.take('mark', ':=') !== undefined;
    const assigns = !declares && this.take('mark', '=') !== undefined;
    if (variables.length === 0 || !(declares || assigns)) {
      this.#at = start;
      return { variables: [], declares: false };
    }
    if (context === 'inner') return this.fail('a variable cannot be set within parentheses', offset);
    if (variables.length > (context === 'range' ? 2 : 1))
      return this.fail('too many variables are set at once', offset);
    const unknown = variables.find((name) => !declares && !this.#variables.includes(name));
    return unknown === undefined ? { variables, declares } : this.fail(`there is no variable ${unknown}`, offset);
  }

  #commands(): readonly Command[] | undefined {
    const commands: Command[] = [];
    do {
      const command = this.#command(commands.at(-1));
      if (command === undefined) return undefined;
      commands.push(command);
      this.take('space');
    } while (this.take('mark', '|') !== undefined);
    return commands;
  }

  /** A function with its arguments, or one value. In a pipe, `piped` is one additional argument. */
  #command(piped: Command | undefined): Command | undefined {
    this.take('space');
    const { offset } = this;
    const [first, ...args] = this.#operands();
    if (this.fault !== undefined) return undefined;
    const called = first?.path.length === 0 && first.base.kind === 'call' ? first.base.name : undefined;
    if (!this.#standAlone(called === undefined ? [first, ...args] : args)) return undefined;
    if (first === undefined) return this.fail(`a value is missing before ${this.#shown()}`);
    if (called !== undefined) return this.#call(called, args, piped, offset);
    if (args.length > 0 || piped !== undefined) return this.fail('only functions take arguments', offset);
    return isNil(first) ? this.fail('nil alone is not an action', offset) : { kind: 'value', operand: first, offset };
  }

  /** Operands separated by space. */
  #operands(): readonly Operand[] {
    const operands: Operand[] = [];
    for (;;) {
      const operand = this.#operand();
      if (operand === undefined) return operands;
      operands.push(operand);
      if (this.take('space') === undefined) return operands;
    }
  }

  /** Whether all operands that are functions can be called without arguments. */
  #standAlone(operands: readonly (Operand | undefined)[]): boolean {
    return operands.every(
      (operand) => operand?.base.kind !== 'call' || this.#takes(operand.base.name, 0, operand.offset),
    );
  }

  #call(name: string, args: readonly Operand[], piped: Command | undefined, offset: number): Command | undefined {
    const count = args.length + (piped === undefined ? 0 : 1);
    if (!this.#takes(name, count, offset)) return undefined;
    const base = args[0]?.base ?? baseOf(piped);
    const refusal = functionNamed(name)?.refusal?.(base?.kind === 'constant' ? base.value : undefined, count);
    return refusal === undefined ? { kind: 'call', name, args, offset } : this.fail(refusal, offset);
  }

  #takes(name: string, count: number, offset: number): true | undefined {
    const { least = 0, most = 0 } = functionNamed(name) ?? {};
    if (count >= least && count <= most) return true;
    const number = most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`;
    return this.fail(
      `${name} takes ${least === most ? least : number} argument${most === 1 ? '' : 's'}, not ${count}`,
      offset,
    );
  }

  #operand(): Operand | undefined {
    const { offset } = this;
    const base = this.#base();
    if (base === undefined) return undefined;
    const path: string[] = [];
    for (let field = this.take('field'); field !== undefined; field = this.take('field'))
      path.push(field.text.slice(1));
    if (base.kind === 'constant' && path.length > 0) return this.fail('a constant has no members', offset);
    if (!this.#endsHere()) return this.fail(`a space is missing before ${this.#shown()}`);
    return { base, path, offset };
  }

  #endsHere(): boolean {
    const token = this.tokens[this.#at];
    return (
      token === undefined ||
      token.kind === 'space' ||
      token.kind === 'close' ||
      (token.kind === 'mark' && token.text !== '(')
    );
  }

  #base(): Base | undefined {
    const token = this.tokens[this.#at];
    switch (token?.kind) {
      case 'field':
        return { kind: 'dot' };
      case 'dot':
        this.#at += 1;
        return { kind: 'dot' };
      case 'variable':
        this.#at += 1;
        if (this.#variables.includes(token.text)) return { kind: 'variable', name: token.text };
        return this.fail(`there is no variable ${token.text}`, token.offset);
      case 'name':
        this.#at += 1;
        return this.#named(token);
      case 'string':
      case 'number':
        this.#at += 1;
        return this.#constant(token);
      case 'mark':
        return token.text === '(' ? this.#parenthesised() : undefined;
      case 'text':
      case 'open':
      case 'close':
      case 'space':
      case undefined:
        return undefined;
    }
  }

  #named({ text, offset }: Token): Base | undefined {
    const constant = NAMED.get(text);
    if (constant !== undefined) return { kind: 'constant', value: constant };
    if (text === 'nil') return { kind: 'constant', value: null };
    if (functionNamed(text) !== undefined) return { kind: 'call', name: text };
    return this.fail(refusalOf(text), offset);
  }

  #constant({ kind, text, offset }: Token): Base | undefined {
    if (text.length > MAX_LITERAL) return this.fail(`a constant may have at most ${MAX_LITERAL} characters`, offset);
    const value = kind === 'string' ? unquoted(text) : constantFrom(text);
    if (value !== undefined) return { kind: 'constant', value };
    return this.fail(
      kind === 'string' ? 'the string contains an invalid escape' : `${text.slice(0, 40)} is not a number`,
      offset,
    );
  }

  #parenthesised(): Base | undefined {
    const { offset } = this;
    this.take('mark', '(');
    const pipeline = this.pipeline('inner');
    if (pipeline === undefined) return undefined;
    this.take('space');
    if (this.take('mark', ')') === undefined) return this.fail('the parenthesis is not closed', offset);
    return { kind: 'pipeline', pipeline };
  }

  #shown(): string {
    const token = this.tokens[this.#at];
    return token === undefined ? 'the end' : JSON.stringify(token.text.slice(0, 40));
  }
}

/** For a value that is piped directly. */
function baseOf(command: Command | undefined): Base | undefined {
  return command?.kind === 'value' && command.operand.path.length === 0 ? command.operand.base : undefined;
}

function isNil({ base }: Operand): boolean {
  return base.kind === 'constant' && base.value === null;
}

const NAMED: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
