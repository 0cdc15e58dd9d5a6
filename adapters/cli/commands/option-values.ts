import { parseDuration } from '../../../src/options/option-kinds.js';
import { option } from '../command-line/command.js';
import { Stopped } from '../stopped.js';

/** Accepted without effect for scripts written for Nomad's command line, which asks for confirmation. */
export const yes = {
  yes: option.flag('no effect: this command never asks for confirmation'),
  y: option.flag('short form of --yes'),
} as const;

/** An object with the member, or an empty one if it has no value. */
export function optional<N extends string, T>(name: N, value: T | undefined): { readonly [K in N]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in N]?: T });
}

/** The numeric value of an option. */
export function numberOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new Stopped(`${name} takes a number, not ${JSON.stringify(text.slice(0, 40))}`, 2);
  return Number(text);
}

/** The value of a boolean option. */
export function flagOption(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text !== 'true' && text !== 'false') {
    throw new Stopped(`--${name} takes true or false, not ${JSON.stringify(text.slice(0, 40))}`, 2);
  }
  return text === 'true';
}

/** The page of a list, from 1; default 1. */
export function pageOption(text: string | undefined): { readonly pageNumber?: number } {
  const number = numberOption('--page', text);
  if (number === 0) throw new Stopped('--page takes a number from 1', 2);
  return optional('pageNumber', number);
}

/** The duration of an option, in milliseconds. */
export function durationOption(name: string, text: string): number {
  const nanos = parseDuration(text);
  if (nanos === undefined || nanos < 0n) {
    throw new Stopped(`--${name} takes a duration such as 30s, not ${JSON.stringify(text.slice(0, 40))}`, 2);
  }
  return Number(nanos) / 1_000_000;
}

/** `KEY=VALUE` strings as a map. */
export function pairs(name: string, texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1) throw new Stopped(`--${name} takes KEY=VALUE, not ${JSON.stringify(text.slice(0, 40))}`, 2);
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
}

/** A name that can be given as a parameter or as an option; if both are given they must agree. */
export function namedOnce(what: string, parameter: string | undefined, option: string | undefined): string | undefined {
  if (parameter !== undefined && option !== undefined && parameter !== option) {
    throw new Stopped(`the ${what} is either ${parameter} or ${option}`, 2);
  }
  return parameter ?? option;
}

/** The outcomes by which deliveries can be filtered. */
export const deliveryOutcomes = ['pending', 'delivered', 'partly_delivered', 'dead', 'cancelled'] as const;
