//! From tokens to a tree. Loosest to tightest: `or`, `and`, `not`, comparisons, `+ -`, `* / %`,
//! unary `-` and `!`, `**`.

use super::function::Function;
use super::lexer::{Token, tokens};
use super::{ExpressionError, Form, Node, Operator};

/// Nesting beyond this is refused, so that no text can exhaust the stack.
const DEEPEST: usize = 50;
/// More operators than this are refused, for the same reason.
const LONGEST: usize = 500;

pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    let tokens = tokens(text)?;
    if tokens.len() > LONGEST {
        return Err(ExpressionError::new(0, format!("the expression has more than {LONGEST} parts")));
    }
    let mut parser = Parser { tokens, next: 0, end: text.len(), depth: 0 };
    let root = parser.binary(0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(root),
        Some((offset, Token::Close)) => Err(ExpressionError::new(*offset, "`)` closes nothing")),
        Some((offset, _)) => {
            Err(ExpressionError::new(*offset, "an operator such as `+` or `and` is missing here"))
        }
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    end: usize,
    depth: usize,
}

/// Binary operators by how tightly they bind, loosest first; `**` is handled apart.
const LEVELS: [&[Operator]; 5] = [
    &[Operator::Or],
    &[Operator::And],
    &[
        Operator::Equal,
        Operator::Unequal,
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
    ],
    &[Operator::Add, Operator::Subtract],
    &[Operator::Multiply, Operator::Divide, Operator::Remainder],
];
const COMPARISON: usize = 2;

impl Parser {
    fn offset(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(offset, _)| *offset)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    /// Runs a step one level deeper.
    fn deeper(
        &mut self,
        step: impl FnOnce(&mut Parser) -> Result<Node, ExpressionError>,
    ) -> Result<Node, ExpressionError> {
        if self.depth == DEEPEST {
            return Err(ExpressionError::new(
                self.offset(),
                format!("nested more than {DEEPEST} levels deep"),
            ));
        }
        self.depth += 1;
        let node = step(self);
        self.depth -= 1;
        node
    }

    fn binary(&mut self, level: usize) -> Result<Node, ExpressionError> {
        if level == COMPARISON && self.peek() == Some(&Token::Not) {
            let offset = self.offset();
            self.next += 1;
            let inner = self.deeper(|parser| parser.binary(COMPARISON))?;
            return Ok(Node { offset, form: Form::Not(Box::new(inner)) });
        }
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        let mut compared = false;
        while let Some(Token::Operator(operator)) = self.peek()
            && operators.contains(operator)
        {
            let (operator, offset) = (*operator, self.offset());
            if compared {
                return Err(ExpressionError::new(
                    offset,
                    "comparisons cannot be chained; write `a < b and b < c`",
                ));
            }
            compared = level == COMPARISON;
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = Node { offset, form: Form::Binary(operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, ExpressionError> {
        let offset = self.offset();
        if self.take(&Token::Operator(Operator::Subtract)) {
            let inner = self.deeper(Parser::unary)?;
            return Ok(Node { offset, form: Form::Negate(Box::new(inner)) });
        }
        if self.take(&Token::Exclamation) {
            let inner = self.deeper(Parser::unary)?;
            return Ok(Node { offset, form: Form::Not(Box::new(inner)) });
        }
        let base = self.primary()?;
        let offset = self.offset();
        if self.take(&Token::Operator(Operator::Power)) {
            let exponent = self.deeper(Parser::unary)?;
            let form = Form::Binary(Operator::Power, Box::new(base), Box::new(exponent));
            return Ok(Node { offset, form });
        }
        Ok(base)
    }

    fn primary(&mut self) -> Result<Node, ExpressionError> {
        let offset = self.offset();
        let token = self.peek().cloned();
        self.next += 1;
        let form = match token {
            Some(Token::Constant(value)) => Form::Constant(value),
            Some(Token::Name(name)) if self.take(&Token::Open) => return self.call(offset, &name),
            Some(Token::Name(name)) => Form::Name(name),
            Some(Token::Open) => {
                let inner = self.deeper(|parser| parser.binary(0))?;
                self.close(offset)?;
                return Ok(inner);
            }
            Some(_) => return Err(ExpressionError::new(offset, "a value is missing here")),
            None => return Err(ExpressionError::new(offset, "the expression ends too early")),
        };
        Ok(Node { offset, form })
    }

    fn call(&mut self, offset: usize, name: &str) -> Result<Node, ExpressionError> {
        let function =
            Function::named(name).ok_or_else(|| ExpressionError::new(offset, Function::unknown(name)))?;
        let mut arguments = Vec::new();
        if self.peek() != Some(&Token::Close) {
            loop {
                arguments.push(self.deeper(|parser| parser.binary(0))?);
                if !self.take(&Token::Comma) {
                    break;
                }
            }
        }
        self.close(offset)?;
        function.check_count(arguments.len()).map_err(|message| ExpressionError::new(offset, message))?;
        Ok(Node { offset, form: Form::Call(function, arguments) })
    }

    fn close(&mut self, opened: usize) -> Result<(), ExpressionError> {
        if self.take(&Token::Close) {
            return Ok(());
        }
        match self.peek() {
            None => Err(ExpressionError::new(opened, "`(` is never closed")),
            Some(_) => Err(ExpressionError::new(self.offset(), "an operator or `)` is missing here")),
        }
    }
}
