import { err, ok, type Result } from 'neverthrow';
import { positionsIn } from '../shared/source-text.js';
import { PipelineParser } from './parse-pipeline.js';
import { type Delimiters, tokensOf } from './tokens.js';
import {
  type Block,
  type FaultAt,
  MAX_DEPTH,
  MAX_TEMPLATE_LENGTH,
  type Statement,
  type TemplateFault,
} from './tree.js';

/** Parses a template into its statements. Empty delimiters mean `{{` and `}}`. */
export function parseTree(source: string, { left, right }: Partial<Delimiters> = {}): Result<Block, TemplateFault> {
  const faultAt = faultIn(source);
  if (source.length > MAX_TEMPLATE_LENGTH) {
    return err(faultAt({ offset: 0, message: `a template may have at most ${MAX_TEMPLATE_LENGTH} characters` }));
  }
  return tokensOf(source, { left: left || '{{', right: right || '}}' })
    .andThen((tokens) => {
      const parser = new TemplateParser(tokens, source.length);
      const block = parser.parse();
      return block === undefined ? err(parser.fault ?? { offset: 0, message: 'it cannot be read' }) : ok(block);
    })
    .mapErr(faultAt);
}

/** Adds line and column to a fault. */
export function faultIn(source: string): (fault: FaultAt) => TemplateFault {
  return ({ offset, message }) => ({ type: 'template_fault', message, ...positionsIn(source)(offset) });
}

/** An open block: its start, and whether it is inside a loop. */
interface Around {
  readonly keyword: string;
  readonly offset: number;
  readonly inRange: boolean;
}

/** Parts of Nomad's language that are not supported. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['define', 'templates within templates are not supported'],
  ['template', 'templates within templates are not supported'],
  ['block', 'templates within templates are not supported'],
]);

class TemplateParser extends PipelineParser {
  parse(): Block | undefined {
    const statements = this.#block(undefined, 0);
    if (statements === undefined) return undefined;
    // A block ends before its keyword: at the top level there is none to end.
    return this.isAtEnd() ? statements : this.fail(`there is no block that ${this.keyword()} could belong to`);
  }

  #block(around: Around | undefined, depth: number): Block | undefined {
    if (depth > MAX_DEPTH) return this.fail(`blocks may be nested at most ${MAX_DEPTH} levels deep`);
    const statements: Statement[] = [];
    while (!this.isAtEnd()) {
      const text = this.take('text');
      if (text !== undefined) {
        statements.push({ kind: 'text', text: text.text, offset: text.offset });
        continue;
      }
      if (this.keyword() === 'end' || this.keyword() === 'else') return statements;
      const statement = this.#action(around, depth);
      if (statement === undefined) return undefined;
      if (statement !== nothing) statements.push(statement);
    }
    if (around === undefined) return statements;
    return this.fail(`the ${around.keyword} has no end`, around.offset);
  }

  #action(around: Around | undefined, depth: number): Statement | typeof nothing | undefined {
    const keyword = this.keyword() ?? '';
    const refused = REFUSED.get(keyword);
    if (refused !== undefined) return this.fail(refused);
    this.open();
    const { offset } = this;
    switch (keyword) {
      case 'if':
      case 'with':
      case 'range':
        this.word();
        return this.#control({ keyword, offset, inRange: keyword === 'range' || around?.inRange === true }, depth);
      case 'break':
      case 'continue':
        if (around?.inRange !== true) return this.fail(`${keyword} is only possible within a range`);
        this.word();
        return this.close() && { kind: keyword, offset };
      default: {
        const pipeline = this.pipeline('action');
        return pipeline && this.close() && { kind: 'action', pipeline, offset };
      }
    }
  }

  /** Parses from after the keyword up to and including its `end`, where the scope of its variables ends. */
  #control(around: Around & { readonly keyword: string }, depth: number): Statement | undefined {
    const kind = around.keyword as 'if' | 'with' | 'range';
    const known = this.scope();
    const pipeline = this.pipeline(kind === 'range' ? 'range' : 'control');
    if (pipeline === undefined || !this.close()) return undefined;
    const declared = this.scope();
    const body = this.#block(around, depth + 1);
    this.restore(declared);
    if (body === undefined) return undefined;
    const outer = kind === 'range' ? { ...around, inRange: false } : around;
    const otherwise = this.#otherwise(kind, outer, depth);
    this.restore(known);
    return otherwise && { kind, pipeline, body, otherwise, offset: around.offset };
  }

  #otherwise(kind: string, around: Around, depth: number): Block | undefined {
    const keyword = this.keyword();
    this.open();
    this.word();
    if (keyword === 'end') return this.close() ? [] : undefined;
    const next = this.word();
    if (next === undefined) {
      if (!this.close()) return undefined;
      const block = this.#block(around, depth + 1);
      if (block === undefined) return undefined;
      if (this.keyword() !== 'end') return this.fail(`only the end of the ${kind} can follow its else`);
      this.open();
      this.word();
      return this.close() ? block : undefined;
    }
    if (next.text !== kind || kind === 'range')
      return this.fail(`else ${next.text} cannot follow ${kind}`, next.offset);
    const chained = this.#control({ ...around, keyword: next.text, offset: next.offset }, depth + 1);
    return chained && [chained];
  }
}

/** An action that produces no statement. */
const nothing = Symbol('nothing');
