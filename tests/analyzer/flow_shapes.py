"""Shapes of control flow, to be compiled only. Behind a line that has a loop or a branch stands what it has."""


def loops(xs, n):
    for x in xs:  # for
        g(x)
    while n > 0:  # while
        n = h(n)
    return n


def nested(xs):
    for row in xs:  # for
        for x in row:  # for
            if x.first:  # if
                continue
            g(x)
            if x.last:  # if
                break
        else:
            h(row)


def ends_with_a_test(xs):
    for x in xs:  # for
        g(x)
        if x.large:  # if
            h(x)


def begins_again_on_one_line(xs):
    for x in xs:  # for
        if x.small: continue  # if
        g(x)


def continues(x):
    while x.more:  # while
        if x.small:  # if
            continue
        g(x)
    while x.next() and not x.last:  # while
        if x.large:  # if
            h(x)
            continue
        while True:  # while
            if x.first:  # if
                continue
            if x.done:  # if
                break
            k(x)


def ends_with_two_sides(xs):
    while True:  # while
        if xs.large:  # if
            xs = g(xs)
        elif xs.small:  # if
            xs = h(xs)


def none(xs, y):
    for x in xs:  # for
        if x is None:  # if
            g(x)
    if y is True:  # if
        g(y)
    return y


def tries(xs):
    for x in xs:  # for
        try:
            g(x)
        except ValueError:
            h(x)
        finally:
            k(x)


def goes_on_after_an_exception(x):
    while x.more:  # while
        try:
            g(x)
        except ValueError:
            h(x)


def continues_after_an_exception(x):
    while x.more:  # while
        try:
            g(x)
        except ValueError:
            continue
        while x.large:  # while
            try:
                h(x)
            except KeyError as error:
                if error.small:  # if
                    continue
                k(x)
        h(x)


def withs(xs):
    for x in xs:  # for
        with a(x), b(x) as y:
            if y.large:  # if
                return y
            g(y)


def matches(x):
    match x:
        case 1:  # case
            return g(x)
        case [a, b]:  # case
            return h(a, b)


def comprehensions(xs):
    ys = [g(x) for x in xs]  # for
    return {x: h(x) for x in ys if x}  # for case


def generator(xs):
    for x in xs:  # for
        yield g(x)
    yield from h(xs)


def builtins(xs):
    if any(g(x) for x in xs):  # for if
        return None
    one = tuple(g(x) for x in xs)  # for
    two = all(h(x) for x in one)  # for
    return list(h(x) for x in two), one  # for


def builtin_set(xs):
    return set(k(x) for x in xs)  # for


async def coroutine(xs):
    for x in xs:  # for
        await g(x)


def alternatives(xs, n):
    if xs.a or xs.b:  # if
        g(xs)
    elif xs.c and (xs.d or not xs.e):  # if
        h(xs)
    if not (xs.a or xs.b):  # if
        g(xs)
    for x in xs:  # for
        g(x)
        if x.a or x.b or x.c:  # if
            h(x)
    while n > 0 or xs.more:  # while
        n = h(n)
    while n < 9 and not all(xs):  # while
        n = k(n)
    for x in xs:  # for
        if x.a or x.b:  # if
            break
        g(x)
    return n
