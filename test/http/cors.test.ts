import assert from "node:assert/strict";
import { test } from "node:test";
import { originHeaders, originRule, preflightHeaders } from "../../src/http/cors.ts";

const isAllowed = originRule(["https://app.example.com", "http://localhost:3000"], "on");

for (const origin of [
  "https://app.example.com",
  "http://localhost:3000",
  "https://signalbox.pages.dev",
  "https://a-1.signalbox.pages.dev",
  "https://SIGNALBOX.Pages.Dev",
]) {
  test(`${origin} is allowed`, () => assert.ok(isAllowed(origin)));
}

for (const origin of [
  "",
  "null",
  "*",
  "https://app.example.com/",
  "https://app.example.com:443",
  "http://app.example.com",
  "https://app.example.com.evil.example",
  "https://evil.example/https://app.example.com",
  "https://app.example.com, https://evil.example",
  "http://localhost",
  "http://localhost:30000",
  "https://pages.dev",
  "http://a.pages.dev",
  "https://a.pages.dev:8443",
  "https://a.pages.dev/",
  "https://a.pages.dev.evil.example",
  "https://apages.dev",
  "https://.pages.dev",
  "https://a..pages.dev",
  "https://a.pagesxdev",
  "https://evil.example/.pages.dev",
  "https://evil.example#.pages.dev",
  "https://evil.example?.pages.dev",
  "https://evil.example\\.pages.dev",
  "https://u@evil.example:1@a.pages.dev",
  "https://a.pages.dev\nhttps://evil.example",
  "evil\nhttps://a.pages.dev",
  "https://ä.pages.dev",
]) {
  test(`${JSON.stringify(origin)} is not allowed`, () => assert.ok(!isAllowed(origin)));
}

test("without configuration preview hosts are allowed, and no other origin", () => {
  const rule = originRule([], "on");
  assert.ok(rule("https://a.pages.dev"));
  assert.ok(!rule("https://app.example.com"));
});

test("an origin that is longer than any name in the DNS is not allowed", () => {
  assert.ok(isAllowed(`https://${"a.".repeat(120)}pages.dev`));
  assert.ok(!isAllowed(`https://${"a.".repeat(150)}pages.dev`));
});

test("a configured * allows any origin", () => {
  const rule = originRule(["https://app.example.com", "*"], "on");
  for (const origin of ["https://evil.example", "null", "chrome-extension://abc"]) {
    assert.ok(rule(origin));
  }
});

test("a long hostile origin is refused in linear time", () => {
  const rule = originRule([], "on");
  // Quadratic matching would take minutes for these.
  for (const text of ["a.".repeat(300_000), "a".repeat(600_000), "-.".repeat(300_000)]) {
    assert.ok(!rule(`https://${text}pages.dev!`));
  }
});

test("no answer ever allows credentials", () => {
  const headers = [...originHeaders("https://a"), ...preflightHeaders("GET")];
  assert.ok(!headers.some((header) => /credentials/i.test(header)));
  assert.equal(headers.length % 2, 0);
});

test("preview hosts are not allowed if switched off, unless they are configured", () => {
  const rule = originRule(["https://mine.pages.dev"], "off");
  assert.ok(!rule("https://a.pages.dev"));
  assert.ok(rule("https://mine.pages.dev"));
});
